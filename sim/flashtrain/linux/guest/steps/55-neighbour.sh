# A second device of the same host is another disk, and each has its own data.
connect_to $NEIGHBOUR_DISK $NEIGHBOUR_AT -n "$NEIGHBOUR_NQN"
for name in wwid uuid device/serial device/subsysnqn; do
    one=$(cat "/sys/block/nvme0n1/$name")
    other=$(cat "/sys/block/nvme1n1/$name")
    [ -n "$one" ] && [ -n "$other" ] && [ "$one" != "$other" ] || { echo "$name: $one and $other"; false; }
done
expect "$(nvme list -o json | grep -c DevicePath)" 2 "disks of nvme list"
reset_all
blkzone reset $NEIGHBOUR_DISK
dd if=/dev/urandom of=/tmp/one bs=4096 count=4
dd if=/dev/urandom of=/tmp/other bs=4096 count=4
dd if=/tmp/one of=$DISK bs=4096 oflag=direct conv=notrunc
dd if=/tmp/other of=$NEIGHBOUR_DISK bs=4096 oflag=direct conv=notrunc
dd if=$DISK bs=4096 count=4 iflag=direct | cmp - /tmp/one
dd if=$NEIGHBOUR_DISK bs=4096 count=4 iflag=direct | cmp - /tmp/other
# A reset of the one leaves the other as it is.
blkzone reset -o 0 -l "$ZONE_SECTORS" $DISK
dd if=$DISK bs=4096 count=4 iflag=direct | cmp -n 16384 - /dev/zero
dd if=$NEIGHBOUR_DISK bs=4096 count=4 iflag=direct | cmp - /tmp/other
nvme disconnect -n "$NEIGHBOUR_NQN"
[ ! -b $NEIGHBOUR_DISK ] && [ -b $DISK ]
echo "two disks with serial numbers, names and data of their own"
