# ./farm sources this file on first use and whenever its inputs have changed. It installs system libraries, the virtual
# environment, the native kernels and the fonts, and skips each step that is up to date. It prints what it does. Where it lacks
# the permission, it prints the exact command and ends.

system_packages="libegl1 libgl1 libegl-mesa0 libgl1-mesa-dri libmagic1 fontconfig libfontconfig1 libexpat1"

silent_seconds=10

say() {
    [ ! -t 2 ] || printf '\r\033[K' >&2 # replace the line that counts packages
    printf '%s\n' "farm: $*" >&2
}
fail() { say "$*"; exit 1; }

# set_up ROOT VENV; the stamp of the kernels is in $kernels
set_up() {
    ticker=
    trap 'stop_ticker; say "interrupted. Start again to go on."; exit 130' INT
    [ -w "$1" ] || [ -w "$2" ] || fail "$1 cannot be written to. Start it once as a user who can; afterwards nobody needs to."
    began=$(date +%s)
    take_turn "$1"
    rm -rf "$2/setup.tmp" # of a start that was killed: up to 500 MB
    python=$(find_python) || get_python
    if [ ! -e "$2/requirements.installed" ]; then
        # Postgres and the compiler pass paths to shells, which would change these characters.
        case $1 in *[\"\$\`]*) fail "Postgres does not start in $1, because of a \", \$ or \` in this path. Rename the folder and start again." ;; esac
        say "first start: this takes two to five minutes, 1.8 GB of disk and 500 MB of downloads. Later starts take seconds."
        check_disks "$1" "$2"
    fi
    install_system_packages "$python"
    if ! run_pip "$2" --version >/dev/null 2>&1; then # none yet, one half made, or its Python has gone
        say "making the environment in $2"
        long_step "making the environment" make_environment "$2" || fail "the environment could not be made: $said" # a traceback if interrupted
    fi
    mkdir -p "$2/setup.tmp" 2>/dev/null || : # a full disk is named by the step that it stops
    cmp -s "$1/requirements.lock" "$2/requirements.installed" || install_dependencies "$1" "$2"
    [ "$kernels" = "$(cat "$2/kernels.installed" 2>/dev/null)" ] || install_kernels "$1" "$2"
    if ! cmp -s "$1/gpu_renderer/content/text/packages.json" "$1/.fonts/packages.installed"; then
        say "installing the fonts that compositions need"
        if long_step "installing the fonts" env PYTHONPATH="$1" "$2/bin/python" -P -m farm_core fonts --base; then
            cp "$1/gpu_renderer/content/text/packages.json" "$1/.fonts/packages.installed"
        fi
    fi
    rm -rf "$2/setup.tmp"
    exec 9<&- # the next one's turn
    trap - INT
    say "ready after $(($(date +%s) - began)) s"
}

# long_step DOING COMMAND ...: run the command, and report every silent_seconds that it still runs.
long_step() {
    doing=$1 setup=$$
    shift
    (
        exec 9<&- # the lock is not its own
        seconds=0
        while sleep $silent_seconds 2>/dev/null && kill -0 $setup 2>/dev/null; do # a sleep that outlives this holds no pipe
            seconds=$((seconds + silent_seconds))
            say "still $doing, after $seconds s"
        done
    ) </dev/null >/dev/null &
    ticker=$!
    ended=0
    "$@" || ended=$?
    stop_ticker
    return $ended
}

stop_ticker() {
    [ -n "$ticker" ] || return 0
    kill "$ticker" 2>/dev/null
    wait "$ticker" 2>/dev/null || :
    ticker=
}

# take_turn ROOT: wait until no other command installs into this environment. The lock ends with its process.
take_turn() {
    exec 9<"$1/cluster/setup/setup.sh"
    if ! command -v flock >/dev/null 2>&1 || flock --nonblock 9; then return 0; fi
    say "another command sets this folder up; waiting for it"
    flock 9 || say "cannot wait for it: this file system has no locks"
}

free_mb() { df -Pk "$1" 2>/dev/null | awk 'NR == 2 { print int($4 / 1024) }'; }

# check_disks ROOT VENV: pip would notice a full disk after minutes, and not say which one. Files of an earlier attempt count.
check_disks() {
    temporary=${TMPDIR:-$1}
    left=$(du -sm "$2" 2>/dev/null | cut -f 1)
    needed=$((1800 - ${left:-0}))
    [ "$(df -P "$1" | tail -n 1)" != "$(df -P "$temporary" | tail -n 1)" ] || needed=$((needed + 600))
    check_disk "$1" "$needed" "Free some space, or clone to another disk, and start again."
    check_disk "$temporary" 600 "Free some space, or name a folder on another disk in TMPDIR, and start again."
}

# check_disk FOLDER MEGABYTES ADVICE
check_disk() {
    free=$(free_mb "$1")
    [ -z "$free" ] || [ "$free" -ge "$2" ] ||
        fail "the disk of $1 has $free MB free, and the installation takes $2 MB there. $3"
}

# fail_if_full VENV LOG: name the disk without space, if that is why a step of the installation has failed.
fail_if_full() {
    for folder in "$1" "${TMPDIR:-$1}"; do
        free=$(free_mb "$folder")
        [ -z "$free" ] || [ "$free" -ge 50 ] || fail "the disk of $folder is full. Free some space and start again to go on."
    done
    ! grep -q 'No space left on device' "$2" ||
        fail "a disk is full, that of $1${TMPDIR:+ or of $TMPDIR}. Free some space and start again to go on."
}

# make_environment VENV: sets $said
make_environment() { said=$("$python" -I -m venv --clear "$1" 2>&1); }

# run_pip VENV WORDS: install into this environment, regardless of PYTHONPATH, the current folder, and `user = true` in pip's settings.
run_pip() {
    venv_python="$1/bin/python"
    shift
    PIP_USER=0 TMPDIR="${TMPDIR:-${venv_python%/bin/python}/setup.tmp}" "$venv_python" -I -m pip --disable-pip-version-check --no-input "$@"
}

# install_dependencies ROOT VENV
install_dependencies() {
    total=$(grep -c '^[a-z0-9].*==' "$1/requirements.lock")
    say "installing $total locked packages"
    status="$2/setup.status"
    rm -f "$2/requirements.installed" "$status" # if this is cut off, the environment fits neither the former lock file nor this one
    forget_unfinished "$2"
    {
        trap stop_ticker INT
        long_step "installing packages" install_locked "$1" "$2" && echo done >"$status" || echo failed >"$status"
    } | show_progress "$total"
    if [ "$(cat "$status" 2>/dev/null)" != done ]; then
        # A connection that breaks off ends pip in a traceback below the line `ERROR: Exception:`.
        grep '^ERROR: ..*[^:]$' "$2/setup.log" >&2 || tail -n 1 "$2/setup.log" >&2
        fail_if_full "$2" "$2/setup.log"
        say_why_unreachable "$2/setup.log"
        fail "the dependencies could not be installed, see above; is the package index reachable? Start again to go on."
    fi
    cp "$1/requirements.lock" "$2/requirements.installed"
}

# install_locked ROOT VENV: the lock names every package, so pip need not look at what they require.
install_locked() {
    run_pip "$2" install --progress-bar off --no-deps --no-compile --require-hashes --requirement "$1/requirements.lock" 2>"$2/setup.log" &&
        compile_modules "$2"
}

# compile_modules VENV: use all cores; pip would use one. Errors are ignored: some packages have files for Python 2.
compile_modules() {
    "$1/bin/python" -I -m compileall -qq -j 0 "$1/lib" >/dev/null 2>&1 ||
        "$1/bin/python" -I -m compileall -qq "$1/lib" >/dev/null 2>&1 || : # without /dev/shm, only one process can work
}

# forget_unfinished VENV: pip writes INSTALLER after a package's files and programs. If it is killed, or the disk fills, before
# that, pip takes the package for installed the next time.
forget_unfinished() {
    for folder in "$1"/lib/python3*/site-packages/*.dist-info; do
        [ ! -d "$folder" ] || [ -e "$folder/INSTALLER" ] || rm -r "$folder"
    done
}

# say_why_unreachable LOG: pip's errors only say that it found no version; the reason is in its warnings.
say_why_unreachable() {
    reason=$(sed -n "s/^WARNING: Retrying.* after connection broken by '\(.*\)': .*/\1/p" "$1" | tail -n 1)
    [ -z "$reason" ] || say "the connection failed: $reason"
    case $reason in *CERTIFICATE_VERIFY_FAILED*)
        say "A proxy that inspects connections needs its certificate among the system's (update-ca-certificates), or in a file"
        say "that PIP_CERT and SSL_CERT_FILE name." ;;
    esac
}

# show_progress TOTAL: count pip's lines. On a terminal one line changes; otherwise each 25 packages print a line.
# The shell reads them, because Debian's awk buffers 4 KB and would show nothing before the longest step.
show_progress() {
    terminal=no
    [ ! -t 2 ] || terminal=yes
    count=0
    while read -r word words; do
        case "$word $words" in
        "Collecting "*)
            count=$((count + 1))
            name=${words%%[=<>;[ ]*}
            if [ $terminal = yes ]; then
                printf '\r\033[Kfarm: package %d of %d: %s' "$count" "$1" "$name" >&2
            elif [ $((count % 25)) = 0 ]; then
                say "package $count of $1"
            fi
            ;;
        "Downloading "*\(*) [ $terminal = no ] || printf '\r\033[Kfarm: package %d of %d: %s %s' "$count" "$1" "$name" "(${words##*\(}" >&2 ;;
        "Installing collected "*)
            say "unpacking $count of $1 packages; all of them take a minute or two"
            ;;
        esac
    done
}

# compile_kernels VENV SOURCE
compile_kernels() {
    run_pip "$1" install --quiet --no-deps --force-reinstall "$2" >"$1/kernels.log" 2>&1
}

# install_kernels ROOT VENV
install_kernels() {
    say "compiling the native kernels"
    rm -f "$2/kernels.installed" "$2/kernels.log" # a copy of the environment by hard links keeps its own
    scratch="$2/kernels.build" # a build leaves files behind, and the checkout may be read-only
    rm -rf "$scratch"
    if mkdir "$scratch" && cp -R "$1/native" "$scratch/native" &&
        long_step "compiling the native kernels" compile_kernels "$2" "$scratch/native"; then
        :
    else
        fail_if_full "$2" "$2/kernels.log"
        tail -n 8 "$2/kernels.log" >&2
        say "the native kernels could not be compiled, see above. The farm works without them, but draws more slowly without a GPU."
        say "To try again: rm '$2/kernels.installed', and start again."
    fi
    rm -rf "$scratch"
    printf '%s\n' "$kernels" >"$2/kernels.installed"
}

# requirements.lock has no packages for other versions.
is_supported() {
    case $1 in 3.11 | 3.12 | 3.13 | 3.14) ;; *) return 1 ;; esac
}

version_of() { "$1" -I -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null; }

pythons="python3 python3.14 python3.13 python3.12 python3.11"

find_python() {
    for name in $pythons; do
        if is_supported "$(version_of "$name")"; then
            command -v "$name"
            return 0
        fi
    done
    return 1
}

# Name the system's package of a supported Python; nothing if apt knows none.
python_package() {
    for name in $pythons; do
        if is_supported "$(apt-cache policy "$name" 2>/dev/null | sed -n 's/^ *Candidate: \([0-9]*\.[0-9]*\).*/\1/p')"; then
            echo "$name"
            return 0
        fi
    done
}

# Install Python as root; for other users, say how to. Sets $python.
get_python() {
    found=$(version_of python3) || found=missing
    say "Python 3.11, 3.12, 3.13 or 3.14 is needed; python3 is $found."
    if command -v apt-get >/dev/null 2>&1; then
        [ "$(id -u)" != 0 ] || update_packages
        package=$(python_package)
        [ -n "$package" ] || [ -n "$(apt-cache policy python3 2>/dev/null)" ] || package=python3 # apt has no lists yet
        if [ -n "$package" ] && [ "$(id -u)" = 0 ]; then
            install_packages "$package" "$package-venv"
            python=$(find_python) && return 0
        elif [ -n "$package" ]; then
            say "Install it with the system libraries that the farm needs, and start again:"
            say "    sudo apt-get update && sudo apt-get install -y $package $package-venv $system_packages"
            exit 1
        fi
    elif command -v dnf >/dev/null 2>&1; then
        say "Install it and start again:"
        say "    sudo dnf install -y python3.13"
        exit 1
    fi
    fail "The system's packages have none. Install python3.13 beside python3, with uv or pyenv for example; it must be found on PATH. Then start again."
}

# install_system_packages PYTHON
install_system_packages() {
    missing=$("$1" -I - <<'PY'
import ctypes.util, importlib.util
wanted = {"EGL": "libegl1", "GL": "libgl1", "magic": "libmagic1", "fontconfig": "libfontconfig1"}
packages = [package for name, package in wanted.items() if not ctypes.util.find_library(name)]
if not importlib.util.find_spec("ensurepip"):
    packages.append("venv")
print(" ".join(packages))
PY
)
    if [ -z "$missing" ] && has_gl_driver; then return 0; fi
    case " $missing " in *" venv "*) system_packages="$system_packages $(basename "$1")-venv" ;; esac
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
        update_packages
        install_packages $system_packages
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

update_packages() {
    long_step "reading the lists of system packages" apt-get update -qq || say "apt-get update failed, see above; going on with the lists that there are"
}

# install_packages NAME ...: of the system, as root
install_packages() {
    say "installing system packages: $*"
    # A machine that has just started installs updates of its own: wait for its lock, which apt does without a word.
    long_step "installing them, or waiting for another installation to end" \
        env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 "$@" >/dev/null ||
        fail "the system packages could not be installed, see above; is the package mirror reachable? Start again to go on."
}

# Succeed if an EGL driver is installed, a GPU's or Mesa's. Each has a vendor file.
has_gl_driver() {
    for folder in /usr/share/glvnd/egl_vendor.d /etc/glvnd/egl_vendor.d; do
        for file in "$folder"/*.json; do [ -e "$file" ] && return 0; done
    done
    return 1
}
