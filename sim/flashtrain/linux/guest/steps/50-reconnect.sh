reset_all
fio_zones kept 0 2 --rw=write --bs=32k --iodepth=4 --io_size="$BYTES"
nvme disconnect -n "$NQN"
connect
expect "$(state_of 0)" "$(state_of 0)" "zone 0"
fio_zones kept 0 2 --rw=write --bs=32k --iodepth=4 --io_size="$BYTES" --verify_only
echo "written, disconnected, connected, verified"
