nvme id-ctrl /dev/nvme0 > /tmp/id
nvme id-ns $DISK
nvme zns id-ctrl /dev/nvme0
nvme zns id-ns $DISK | tee /tmp/zns
grep -q 'mor *: *0x7' /tmp/zns
nvme smart-log /dev/nvme0
nvme error-log /dev/nvme0
nvme effects-log /dev/nvme0 -c 2
nvme fw-log /dev/nvme0
nvme get-feature /dev/nvme0 -f 7
grep -E '^mn ' /tmp/id
