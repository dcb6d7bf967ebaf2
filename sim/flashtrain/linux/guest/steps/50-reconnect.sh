reset_all
fio_zones kept 0 2 --rw=write --bs=32k --iodepth=4 --io_size="$BYTES"
nvme disconnect -n "$NQN"
connect
fio_zones kept 0 2 --rw=read --bs=32k --iodepth=4 --io_size="$BYTES"
echo "written, disconnected, connected, verified"
