#!/usr/bin/env bash
# Build the project's wheel, install it into an empty environment and run `farm demo` from it, outside the checkout.
# Dependencies come from .venv unless FULL=1, which installs them from the package index.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# A build leaves files behind: it works on a copy of what git knows.
(cd "$root" && git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents --target-directory="$scratch" 2>/dev/null || true) &&
    mkdir "$scratch/source" && (cd "$scratch" && find . -mindepth 1 -maxdepth 1 ! -name source -exec mv {} source/ \;)
"$root/.venv/bin/python" -m pip wheel --quiet --no-deps --wheel-dir "$scratch/wheels" "$scratch/source"
rm -rf "$scratch/source"
"$root/.venv/bin/python" -m venv "$scratch/environment"
bin="$scratch/environment/bin"
if [ "${FULL:-}" = 1 ]; then
    "$bin/python" -m pip install --quiet "$scratch"/wheels/*.whl
else
    "$bin/python" -m pip install --quiet --no-deps "$scratch"/wheels/*.whl
    packages=$("$bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))')
    "$root/.venv/bin/python" -c 'import sysconfig; print(sysconfig.get_path("purelib"))' >"$packages/dependencies.pth"
fi
mkdir "$scratch/elsewhere"
cd "$scratch/elsewhere"
export XDG_DATA_HOME="$scratch/data"
unset PYTHONPATH
"$bin/farm" --version
"$bin/python" -c 'import render_kernels, gpu_renderer, sys; assert all(sys.prefix in m.__file__ for m in (render_kernels, gpu_renderer))'
"$bin/farm" demo --output video.mp4
test -s video.mp4
