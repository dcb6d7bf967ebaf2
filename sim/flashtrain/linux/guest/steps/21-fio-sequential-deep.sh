fio_zones deep 4 4 --rw=write --bs=128k --iodepth=16 --io_size="$BYTES"
