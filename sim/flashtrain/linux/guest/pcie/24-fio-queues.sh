# A queue for each processor, all of them in use at depth 128, and each block checked.
reset_all
expect "$(ls /sys/block/nvme0n1/mq | wc -l)" "$(grep -c ^processor /proc/cpuinfo)" "queues"
jobs=$(grep -c ^processor /proc/cpuinfo)
fio_zones queues 0 1 --rw=write --bs=16k --iodepth=128 --numjobs="$jobs" --offset_increment=1z --cpus_allowed_policy=split \
    --cpus_allowed="0-$((jobs - 1))" --io_size="$BYTES" --group_reporting
used=$(grep -c 'nvme0q[1-9]' /proc/interrupts)
expect "$used" "$jobs" "vectors of I/O queues"
# Each vector has come: a column of the first processor, and so on.
awk '/nvme0q[1-9]/ { sum = 0; for (n = 2; n <= NF; n++) if ($n ~ /^[0-9]+$/) sum += $n; if (!sum) exit 1 }' /proc/interrupts
echo "$jobs queues: $(grep -E '^ *(WRITE|READ):' /tmp/fio.txt | sed 's/.*io=\([^ ]*\).*run=\([0-9]*\).*/\1 in \2 ms/' | tr '\n' ' ')"
