# Real time of the host: writes of 128 KiB, and reads of 4 KiB at depths 32 and 1.
reset_all
speed() {
    fio --name=speed --filename=$DISK --direct=1 --zonemode=zbd --ioengine=libaio --gtod_reduce=1 --output=/tmp/fio.txt \
        --offset=0z --size=1z "$@" || { cat /tmp/fio.txt; return 1; }
    commands=$(sed -n 's/.*issued rwts: total=\([0-9]*\),\([0-9]*\),.*/\1+\2/p' /tmp/fio.txt)
    milliseconds=$(sed -n 's/.*run=\([0-9]*\)-.*/\1/p' /tmp/fio.txt)
    rate=$((($commands) * 1000 / milliseconds))
}
speed --rw=write --bs=128k --iodepth=16 --io_size="$SPEED_BYTES"
written=$((rate * 131072 / 1000000))
speed --rw=randread --bs=4k --iodepth=32 --runtime=4 --time_based --iodepth_batch_submit=32 \
    --iodepth_batch_complete_min=16 --iodepth_batch_complete_max=32
deep=$rate
speed --rw=randread --bs=4k --iodepth=1 --runtime=2 --time_based
echo "$deep reads of 4 KiB a second at depth 32, $rate at depth 1; $written MB/s written in 128 KiB"
