nvme id-ctrl /dev/nvme0 > /tmp/id
nvme id-ns $DISK
nvme zns id-ctrl /dev/nvme0
nvme zns id-ns $DISK | tee /tmp/zns
grep -q 'mor *: *0x7' /tmp/zns
nvme fw-log /dev/nvme0
grep -E '^mn ' /tmp/id
