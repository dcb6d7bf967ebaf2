zones=$(cat /sys/block/nvme0n1/queue/nr_zones)
nvme zns report-zones $DISK -d 4 -s 0
expect "$(blkzone report $DISK | wc -l)" "$zones" "zones of blkzone"
expect "$(blkzone report $DISK | grep -c '(em)')" "$zones" "empty zones"
nvme zns report-zones $DISK -S 1 -p -d 2
nvme zns report-zones $DISK -S 5
echo "$zones zones, all empty"
