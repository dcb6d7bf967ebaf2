connect
cat /sys/block/nvme0n1/queue/zoned
expect "$(cat /sys/block/nvme0n1/ro)" 0 "read-only"
echo "$(cat /sys/block/nvme0n1/queue/nr_zones) zones, $(cat /sys/block/nvme0n1/queue/scheduler)"
