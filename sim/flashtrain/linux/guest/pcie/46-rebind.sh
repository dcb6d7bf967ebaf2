# The driver lets the function go with a shutdown, and takes it again; then it is removed and found again.
function=$(basename "$(readlink -f /sys/class/nvme/nvme0/device)")
echo "$function" > /sys/bus/pci/drivers/nvme/unbind
[ ! -b $DISK ]
echo "$function" > /sys/bus/pci/drivers/nvme/bind
wait_for_disk $DISK
echo 1 > "/sys/bus/pci/devices/$function/reset"
wait_for_disk $DISK
echo 1 > "/sys/bus/pci/devices/$function/remove"
[ ! -b $DISK ]
echo 1 > /sys/bus/pci/rescan
wait_for_disk $DISK
echo mq-deadline > /sys/block/nvme0n1/queue/scheduler
fio_zones kept 0 2 --rw=read --bs=32k --iodepth=4 --io_size="$BYTES"
echo "unbound and bound, function reset, removed and found, verified"
