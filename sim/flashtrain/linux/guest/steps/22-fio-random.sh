fio_zones random 8 8 --rw=randwrite --bs=4k-64k --bs_unaligned=0 --iodepth=16 --max_open_zones=6 --io_size="$BYTES"
