#!/usr/bin/env bash
# Run ./farm demo from a clone in a clean Debian tree: debian.sh SUITE [USER]. Needs root and debootstrap.
# TREES (default: a folder of the temporary directory) keeps the trees; MIRROR names the mirror; BIND lists folders of this
# machine that the tree needs to reach a package index, separated by colons.
set -euo pipefail
suite=$1 user=${2:-root}
root=$(cd "$(dirname "$0")/../.." && pwd)
tree="${TREES:-${TMPDIR:-/tmp}/farm-trees}/$suite"
libraries="libegl1 libgl1 libegl-mesa0 libgl1-mesa-dri libmagic1 fontconfig libfontconfig1 libexpat1"
if [ ! -e "$tree/etc/debian_version" ]; then
    mkdir -p "$tree"
    debootstrap --variant=minbase --include=python3,python3-venv,ca-certificates,util-linux,passwd \
        "$suite" "$tree" "${MIRROR:-http://deb.debian.org/debian}" >"$tree.log"
fi
for file in /etc/resolv.conf /etc/pip.conf /etc/ssl/certs/ca-certificates.crt; do
    [ ! -e "$file" ] || { mkdir -p "$tree$(dirname "$file")" && cp -L "$file" "$tree$file"; }
done
chmod 700 "$tree/root"
rm -rf "$tree/root/farm"
git clone --quiet "$root" "$tree/root/farm"
cat >"$tree/root/try.sh" <<INNER
set -e
if [ "$user" = root ]; then cd /root/farm && exec ./farm demo; fi
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $libraries >/dev/null 2>&1
id "$user" >/dev/null 2>&1 || useradd --create-home "$user"
rm -rf "/home/$user/the farm"
cp -r /root/farm "/home/$user/the farm"
chown -R "$user:" "/home/$user"
exec su "$user" -c "cd '/home/$user/the farm' && ./farm demo"
INNER
# Mounts end with the namespace.
time unshare --mount --fork bash -c '
    set -e
    tree=$1
    mount --rbind /dev "$tree/dev"
    mount -t proc proc "$tree/proc"
    IFS=:
    for folder in ${BIND:-}; do mkdir -p "$tree$folder" && mount --bind "$folder" "$tree$folder"; done
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 chroot "$tree" bash /root/try.sh
' namespace "$tree"
