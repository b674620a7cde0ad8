#!/usr/bin/env bash
# Run ./farm demo of this checkout, which must be set up, in awkward places: places.sh [PLACE ...]. Needs root; every change is
# made in namespaces of its own and ends with them. Prints a line for each place; logs are in $LOGS (a temporary folder).
set -uo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
logs=${LOGS:-$(mktemp -d)}
demo() { (cd "$root" && timeout 240 ./farm demo --data "$1/data" -o "$1/demo.mp4"); }

small_shm() { mount -t tmpfs -o size=1m none /dev/shm && demo "$1"; }
no_shm() {
    mkdir "$1/dev"
    for node in null zero full random urandom tty; do touch "$1/dev/$node" && mount --bind "/dev/$node" "$1/dev/$node"; done
    ln -s /proc/self/fd "$1/dev/fd"
    mount --rbind "$1/dev" /dev && [ ! -e /dev/shm ] && demo "$1"
}
no_network() { ip link set lo up && demo "$1"; }
no_hostname() { hostname nobody-knows.invalid && demo "$1"; }
read_only_checkout() {
    mount --bind "$root" "$root" && mount -o remount,bind,ro "$root" && ! touch "$root/written" 2>/dev/null && demo "$1"
}
little_memory() { # as a container of 1 GB sees its control group; the refusal is expected
    mount -t tmpfs none /sys/fs/cgroup && mkdir /sys/fs/cgroup/memory
    echo 1000000000 | tee /sys/fs/cgroup/memory.max >/sys/fs/cgroup/memory/memory.limit_in_bytes
    demo "$1" 2>"$1/error"
    cat "$1/error" >&2
    grep -q 'the farm needs 1.3 GB' "$1/error" && [ ! -e "$1/data/postgres" ]
}

if [ "${1:-}" = --inside ]; then
    "$2" "$3"
    exit
fi
[ $# -gt 0 ] || set -- small_shm no_shm no_network no_hostname read_only_checkout little_memory
failed=0
for place in "$@"; do
    folder=$(mktemp -d)
    began=$(date +%s)
    if unshare --mount --net --uts --pid --fork --mount-proc --kill-child bash -c 'ip link set lo up; exec "$@"' namespace \
        bash "$0" --inside "$place" "$folder" >"$logs/$place.log" 2>&1; then
        echo "$place: works, $(($(date +%s) - began)) s"
    else
        echo "$place: FAILS, $(($(date +%s) - began)) s: $(tail -n 1 "$logs/$place.log"); see $logs/$place.log"
        failed=1
    fi
    rm -rf --one-file-system "$folder"
done
exit $failed
