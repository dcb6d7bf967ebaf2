# The stock driver has the function, with interrupts of MSI-X and a zoned disk.
wait_for_disk $DISK
echo mq-deadline > /sys/block/nvme0n1/queue/scheduler
function=$(readlink -f /sys/class/nvme/nvme0/device)
expect "$(basename "$(readlink "$function/driver")")" nvme "driver"
expect "$(cat /sys/block/nvme0n1/queue/zoned)" host-managed "zoned"
expect "$(cat /sys/block/nvme0n1/ro)" 0 "read-only"
echo "$(cat /sys/block/nvme0n1/queue/nr_zones) zones, $(ls "$function/msi_irqs" | wc -l) vectors, $(uname -r)"
