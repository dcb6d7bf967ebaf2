#!/bin/sh
# The first process of the machine: it loads the modules, sets up the network, and runs the steps.
/bin/busybox mkdir -p /usr/bin /usr/sbin /sbin
/bin/busybox --install -s
export PATH=/bin:/sbin:/usr/bin:/usr/sbin
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
echo 3 > /proc/sys/kernel/printk
while read -r module; do insmod "/lib/modules/$module" 2>/dev/null; done < /lib/modules/order
ip link set lo up
ip addr add 10.0.2.15/24 dev eth0
ip link set eth0 up
. /etc/steps.sh
poweroff -f
