# Two drives at once: each has data of its own, under load, and a reset of the one leaves the other.
OTHER=/dev/nvme1n1
wait_for_disk $OTHER
echo mq-deadline > /sys/block/nvme1n1/queue/scheduler
name_of() { cat "/sys/block/${1#/dev/}/device/$2"; }
[ "$(name_of $DISK serial)" != "$(name_of $OTHER serial)" ]
[ "$(name_of $DISK subsysnqn)" != "$(name_of $OTHER subsysnqn)" ]
[ "$(cat /sys/block/nvme0n1/wwid)" != "$(cat /sys/block/nvme1n1/wwid)" ]
reset_all
blkzone reset $OTHER
both() {
    (DISK=$OTHER FIO=/tmp/other.txt; fio_zones other 0 2 --bs=32k --iodepth=16 --io_size="$BYTES" "$@" > /tmp/other) &
    local job=$!
    fio_zones first 0 2 --bs=32k --iodepth=16 --io_size="$BYTES" "$@"
    wait $job
}
both --rw=write
nvme reset /dev/nvme1
wait_for_disk $OTHER
both --rw=read
blkzone reset $OTHER
fio_zones first 0 2 --rw=read --bs=32k --iodepth=16 --io_size="$BYTES"
echo "the second one: $(cat /tmp/other)"
