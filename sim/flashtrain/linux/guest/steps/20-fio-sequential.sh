reset_all
fio_zones sequential 0 4 --rw=write --bs=64k --iodepth=1 --io_size="$BYTES"
