reset_all
fio_zones flushed 0 2 --rw=write --bs=64k --iodepth=4 --io_size="$BYTES" --end_fsync=1
first=$((4 * ZONE_SECTORS / 8))
head -c 4096 /tmp/page > /tmp/one
echo 0 > /tmp/acknowledged
(
    count=0
    while [ $count -lt "$LOOP_BLOCKS" ] && dd if=/tmp/one of=$DISK bs=4096 count=1 seek=$((first + count)) oflag=direct conv=notrunc; do
        count=$((count + 1))
        echo $count > /tmp/acknowledged
    done
) &
writer=$!
until [ "$(cat /tmp/acknowledged)" -ge 8 ]; do sleep 0.1; done
echo "@power" > /dev/console
wait $writer || true
sleep 2
wait_for_disk $DISK
blkzone report -c 6 $DISK
fio_zones flushed 0 2 --rw=read --bs=64k --iodepth=4 --io_size="$BYTES"
count=$(cat /tmp/acknowledged)
dd if=$DISK of=/tmp/back bs=4096 skip=$first count=$count iflag=direct
number=0
while [ $number -lt $count ]; do cat /tmp/one; number=$((number + 1)); done | cmp - /tmp/back
echo "data of fio and $count acknowledged blocks are there"
