#!/bin/sh
# The first process of the machine: it loads the modules, sets up the network, and runs the steps in order.
# A line that begins with "@" is for the program that has started the machine.
/bin/busybox mkdir -p /usr/bin /usr/sbin /sbin
/bin/busybox --install -s
export PATH=/bin:/sbin:/usr/bin:/usr/sbin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
echo 1 > /proc/sys/kernel/printk
while read -r module; do insmod "/lib/modules/$module" || echo "no module $module"; done < /lib/modules/order
ip link set lo up
if [ -e /sys/class/net/eth0 ]; then
    ip addr add 10.0.2.15/24 dev eth0
    ip link set eth0 up
fi
. /etc/settings
. /etc/functions.sh
now() { cut -d' ' -f1 /proc/uptime; }
echo "@booted $(now)"
for script in /etc/steps/*.sh; do
    name=$(basename "$script" .sh | cut -d- -f2-)
    before=$(now)
    if (set -e; . "$script") > /tmp/out 2>&1; then
        echo "@ok $name $before $(now) $(tail -n 1 /tmp/out)"
    else
        tail -n 30 /tmp/out
        dmesg | tail -n 12
        echo "@failed $name $before $(now) $(tail -n 1 /tmp/out)"
    fi
done
echo "@end"
poweroff -f
