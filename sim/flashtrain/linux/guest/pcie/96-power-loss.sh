# Both drives lose their power, the first while four processes write. They recover, and the driver resets them.
OTHER=/dev/nvme1n1
wait_for_disk $OTHER
echo mq-deadline > /sys/block/nvme1n1/queue/scheduler
reset_all
blkzone reset $OTHER
time_out_after $DISK 1000
time_out_after $OTHER 1000
(DISK=$OTHER; fio_zones other 0 2 --rw=write --bs=64k --iodepth=4 --io_size="$BYTES" --end_fsync=1)
fio_zones flushed 0 2 --rw=write --bs=64k --iodepth=4 --io_size="$BYTES" --end_fsync=1
# Append a block after the other to a zone, each when the last one is there, until one fails.
append_blocks() {
    local zone=$1 count=0
    head -c 4096 /dev/zero | tr '\0' "$zone" > /tmp/block.$zone
    while dd if=/tmp/block.$zone of=$DISK bs=4096 count=1 seek=$((zone * ZONE_SECTORS / 8 + count)) oflag=direct conv=notrunc; do
        count=$((count + 1))
        echo $count > /tmp/acknowledged.$zone
        [ ! -e /tmp/enough ]
    done
}
for zone in 4 5 6 7; do
    echo 0 > /tmp/acknowledged.$zone
    append_blocks $zone &
done
until [ "$(cat /tmp/acknowledged.7)" -ge 8 ]; do sleep 0.1; done
dmesg -c > /dev/null
echo "@power" > /dev/console
until dmesg | grep -q 'nvme nvme0: .*queues'; do sleep 0.1; done
# Nobody has used the other one.
dd if=$OTHER of=/dev/null bs=4096 count=1 iflag=direct
dmesg | grep -q 'nvme nvme1: .*queues'
sleep 1
touch /tmp/enough
wait || true
wait_for_disk $DISK
fio_zones flushed 0 2 --rw=read --bs=64k --iodepth=4 --io_size="$BYTES"
(DISK=$OTHER; fio_zones other 0 2 --rw=read --bs=64k --iodepth=4 --io_size="$BYTES")
sum=0
for zone in 4 5 6 7; do
    count=$(cat /tmp/acknowledged.$zone)
    dd if=$DISK of=/tmp/back bs=4096 skip=$((zone * ZONE_SECTORS / 8)) count="$count" iflag=direct
    head -c $((4096 * count)) /dev/zero | tr '\0' "$zone" | cmp - /tmp/back
    sum=$((sum + count))
done
no_warnings
echo "data of fio and $sum acknowledged blocks of 4 zones are there"
