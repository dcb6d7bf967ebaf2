reset_all
dd if=/etc/zonefs.super of=$DISK bs=4096 count=1 oflag=direct conv=notrunc
blkzone finish -o 0 -l $ZONE_SECTORS $DISK
mount -t zonefs $DISK /mnt
files=$(ls /mnt/seq | wc -l)
on_file() {
    fio --name=zonefs --filename=/mnt/seq/1 --bs=64k --iodepth=8 --ioengine=libaio --direct=1 --fallocate=none \
        --allow_file_create=0 --size="$BYTES" --verify=crc32c --do_verify=0 "$@"
}
on_file --rw=write --create_on_open=1 --unlink=0
size=$(stat -c %s /mnt/seq/1)
on_file --rw=read
: > /mnt/seq/1
expect "$(stat -c %s /mnt/seq/1)" 0 "size after truncation"
umount /mnt
echo "$files files; one of $size bytes, written, read and truncated"
