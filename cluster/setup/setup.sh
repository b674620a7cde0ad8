# Sourced by ./farm on first use and whenever requirements.lock has changed: system libraries, then the
# virtual environment. Prints what it does; ends with the exact command where it may not do it itself.

system_packages="libegl1 libgl1 libegl-mesa0 libgl1-mesa-dri libmagic1 fontconfig libfontconfig1 libexpat1"

say() { printf '%s\n' "farm: $*" >&2; }
fail() { say "$*"; exit 1; }

# set_up ROOT VENV
set_up() {
    python=$(find_python) || fail "Python 3.11 or newer is needed, and was not found."
    install_system_packages "$python"
    if ! "$2/bin/python" -m pip --version >/dev/null 2>&1; then # none yet, one half made, or its Python has gone
        say "making the environment in $2"
        "$python" -m venv --clear "$2" || fail "the environment could not be made."
    fi
    say "installing the locked dependencies (a few minutes the first time)"
    "$2/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --requirement "$1/requirements.lock" ||
        fail "the dependencies could not be installed, see above; is the package index reachable? Start again to go on."
    cp "$1/requirements.lock" "$2/requirements.installed"
    say "fetching the fonts that compositions need"
    PYTHONPATH="$1" "$2/bin/python" -m farm_core fonts --base || fail "the fonts could not be fetched. Start again to go on."
    cp "$1/gpu_renderer/content/text/packages.json" "$1/.fonts/packages.installed"
    say "ready"
}

find_python() {
    for name in python3 python3.14 python3.13 python3.12 python3.11; do
        if command -v "$name" >/dev/null 2>&1 && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
            command -v "$name"
            return 0
        fi
    done
    return 1
}

# install_system_packages PYTHON
install_system_packages() {
    missing=$("$1" - <<'PY'
import ctypes.util, importlib.util
wanted = {"EGL": "libegl1", "GL": "libgl1", "magic": "libmagic1", "fontconfig": "libfontconfig1"}
packages = [package for name, package in wanted.items() if not ctypes.util.find_library(name)]
if not importlib.util.find_spec("ensurepip"):
    packages.append("python3-venv")
print(" ".join(packages))
PY
)
    if [ -z "$missing" ] && has_gl_driver; then return 0; fi
    case " $missing " in *" python3-venv "*) system_packages="$system_packages python3-venv" ;; esac
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        say "installing system libraries: $system_packages"
        apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $system_packages >/dev/null
        return 0
    fi
    if command -v apt-get >/dev/null 2>&1; then
        say "system libraries are missing. Install them and start again:"
        say "    sudo apt-get update && sudo apt-get install -y $system_packages"
    elif command -v dnf >/dev/null 2>&1; then
        say "system libraries are missing. Install them and start again:"
        say "    sudo dnf install -y mesa-libEGL mesa-libGL mesa-dri-drivers file-libs fontconfig"
    else
        say "system libraries are missing: EGL, OpenGL with a software driver, libmagic, fontconfig."
    fi
    exit 1
}

# A vendor file tells that some EGL driver (a GPU's, or Mesa's software one) is there.
has_gl_driver() {
    for folder in /usr/share/glvnd/egl_vendor.d /etc/glvnd/egl_vendor.d; do
        for file in "$folder"/*.json; do [ -e "$file" ] && return 0; done
    done
    return 1
}
