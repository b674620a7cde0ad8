# Boot a machine with systemd as its first process: boot.sh CHECKOUT FOLDER NAME. tests/booted.py runs it in new namespaces.
#
# The root is an overlay of this system with a user `farm`, whose home holds the checkout as a fresh install would. Units are
# those that services need; everything else of this system stays off. Changes are kept in memory and end with the machine.
set -e
checkout=$1 folder=$2 name=$3
mount --make-rprivate /
mkdir "$folder/disk"
mount -t tmpfs tmpfs "$folder/disk"
cd "$folder/disk"
tree=$PWD/tree
mkdir tree upper work upper-checkout work-checkout
mount -t overlay overlay -o "lowerdir=/,upperdir=$PWD/upper,workdir=$PWD/work" "$tree"
mount -t proc proc "$tree/proc"
mount -t sysfs -o ro sysfs "$tree/sys"
mount -t cgroup2 cgroup2 "$tree/sys/fs/cgroup"
mount --rbind /dev "$tree/dev"
units=$tree/usr/lib/systemd/system
mkdir journal
cp "$units"/systemd-journald.service "$units"/systemd-journald.socket "$units"/systemd-journald-dev-log.socket journal
for place in dev/shm run tmp home usr/lib/systemd/system usr/lib/systemd/system-generators etc/systemd/system etc/init.d var/log; do
    mkdir -p "$tree/$place"
    mount -t tmpfs -o mode=1777 tmpfs "$tree/$place"
done
chmod 755 "$tree/home"
cp journal/* "$units"
for target in sysinit basic network network-online sockets shutdown; do
    printf '[Unit]\nDefaultDependencies=no\n' >"$units/$target.target"
done
printf '[Unit]\nRequires=basic.target systemd-journald.service\nAfter=basic.target\nAllowIsolate=yes\n' >"$units/multi-user.target"
ln -s multi-user.target "$units/default.target"
cp "$folder/hosts" "$tree/etc/hosts"
cp --remove-destination "$folder/resolv.conf" "$tree/etc/resolv.conf"
rm -f "$tree/etc/machine-id"
mkdir -p "$tree/home/farm/render-farm"
mount -t overlay overlay -o "lowerdir=$checkout,upperdir=$PWD/upper-checkout,workdir=$PWD/work-checkout" "$tree/home/farm/render-farm"
rm -rf "$tree/home/farm/render-farm/.farm" "$tree/home/farm/render-farm/.env"
chroot "$tree" useradd --no-create-home --home-dir /home/farm --shell /bin/bash farm
chroot "$tree" chown farm: /home/farm /home/farm/render-farm
hostname "$name"
echo up
exec chroot "$tree" env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin /usr/lib/systemd/systemd --system --log-target=journal \
    >>"$folder/systemd.log" 2>&1
