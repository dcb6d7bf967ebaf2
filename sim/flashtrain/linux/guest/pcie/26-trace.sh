# The kernel's counts and its trace of a load, for a comparison with the drive's own trace.
# Reads of blocks of the last zone, which no other step reads, mark the load in both.
last=$((($(cat /sys/block/nvme0n1/queue/nr_zones) - 1) * ZONE_SECTORS / 8))
mark() {
    nvme read $DISK --start-block=$((last + $1)) --block-count=0 --data-size=4096 --data=/tmp/marked
}
counts() {
    iostat -d -k nvme0n1 | awk '$1 == "nvme0n1" { print $6, $7 }'
    awk '{ print $1, $5 }' /sys/block/nvme0n1/stat
}
[ -d /sys/kernel/debug/block ] || mount -t debugfs none /sys/kernel/debug
reset_all
mark 1
counts > /tmp/before
blktrace -d $DISK -D /tmp -o traced > /tmp/blktrace.txt 2>&1 &
tracer=$!
until [ -e /sys/kernel/debug/block/nvme0n1/dropped ]; do sleep 0.05; done
sleep 0.3
fio_zones traced 0 4 --rw=write --bs=4k-64k --bs_unaligned=0 --iodepth=8 --io_size="$BYTES" --end_fsync=1
fio_zones traced 8 4 --rw=randwrite --bs=16k --iodepth=32 --max_open_zones=4 --io_size="$BYTES"
blkzone finish -o 0 -l $ZONE_SECTORS $DISK
blkzone reset -o $((8 * ZONE_SECTORS)) -l $ZONE_SECTORS $DISK
counts > /tmp/after
expect "$(cat /sys/kernel/debug/block/nvme0n1/dropped)" 0 "dropped events"
kill -INT $tracer
wait $tracer || true
mark 2
echo "@marks $((last + 1)) $((last + 2))" > /dev/console
# Completed requests: what, first sector, sectors. Those of programs, such as a report of zones, are also apart.
traced() { blkparse -q -D /tmp -i traced -a "$1" -f '%a %d %S %n\n' | awk -v word="$2" '$1 == "C" { print word, $2, $3, $4 }'; }
traced complete @event > /tmp/events
traced pc @program >> /tmp/events
paste -d ' ' /tmp/before /tmp/after | tr '\n' ' ' | awk '{ print "@counts", $3 - $1, $4 - $2, $7 - $5, $8 - $6 }' > /dev/console
cat /tmp/events > /dev/console
echo "$(grep -c '^@event' /tmp/events) requests"
