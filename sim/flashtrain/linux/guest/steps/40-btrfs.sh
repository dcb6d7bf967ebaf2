reset_all
mkfs.btrfs -f -d single -m single $DISK > /tmp/mkfs 2>&1 || { cat /tmp/mkfs; false; }
mount -t btrfs $DISK /mnt
dd if=/dev/urandom of=/mnt/data bs=64k count=16
sync
sum=$(sha256sum < /mnt/data)
umount /mnt
mount -t btrfs $DISK /mnt
expect "$(sha256sum < /mnt/data)" "$sum" "checksum after a new mount"
umount /mnt
echo "a file of 1 MiB, the same after a new mount"
