reset_all
fio_zones kept 0 2 --rw=write --bs=32k --iodepth=4 --io_size="$BYTES"
number=0
while [ $number -lt 20 ]; do
    nvme reset /dev/nvme0
    number=$((number + 1))
done
wait_for_disk $DISK
fio_zones kept 0 2 --rw=read --bs=32k --iodepth=4 --io_size="$BYTES"
echo "written, reset 20 times, verified"
