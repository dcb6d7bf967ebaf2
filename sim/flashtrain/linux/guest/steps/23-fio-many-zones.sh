reset_all
# More zones than may be open: the target closes one that was opened implicitly.
zone=0
while [ $zone -lt 10 ]; do
    dd if=/tmp/page of=$DISK bs=4096 count=1 seek=$(((16 + zone) * ZONE_SECTORS / 8)) oflag=direct conv=notrunc
    zone=$((zone + 1))
done
expect "$(blkzone report -o $((16 * ZONE_SECTORS)) -c 10 $DISK | grep -c '(em)')" 0 "empty zones of ten"
echo "10 zones begun"
