# The second drive is pulled out under load: its disk goes with errors, and the first one goes on.
OTHER=/dev/nvme1n1
time_out_after $OTHER 1000
wait_for_disk $OTHER
echo mq-deadline > /sys/block/nvme1n1/queue/scheduler
reset_all
blkzone reset $OTHER
dmesg -c > /dev/null
writers=
for zone in 0 8 16; do
    dd if=/dev/zero of=$OTHER bs=16384 seek=$((zone * ZONE_SECTORS / 32)) oflag=direct conv=notrunc 2> /tmp/pulled.$zone &
    writers="$writers $!"
done
until [ "$(awk '{ print $5 }' /sys/block/nvme1n1/stat)" -ge 16 ]; do sleep 0.1; done
echo "@pull" > /dev/console
fio_zones first 0 2 --rw=write --bs=32k --iodepth=4 --io_size="$BYTES"
for writer in $writers; do
    if wait "$writer"; then
        echo "a writer has seen no error"
        false
    fi
done
expect "$(grep -h 'nput/output error' /tmp/pulled.* | wc -l)" 3 "writers with errors"
tries=0
while [ -e /sys/class/nvme/nvme1 ]; do
    tries=$((tries + 1))
    [ $tries -lt 200 ]
    sleep 0.1
done
[ ! -b $OTHER ]
fio_zones first 0 2 --rw=read --bs=32k --iodepth=4 --io_size="$BYTES"
no_warnings
grep 'nvme nvme1' /tmp/messages
expect "$(grep -c 'nvme nvme1: Removing after probe failure' /tmp/messages)" 1 "removals by the driver"
echo "the disk is gone, with errors for all that wrote to it"
