dd if=/dev/urandom of=/tmp/page bs=4096 count=4
nvme zns zone-append $DISK -s 0 -z 4096 -d /tmp/page
nvme zns zone-append $DISK -s 0 -z 8192 -d /tmp/page | tee /tmp/append
grep -q 'LBA: 0x1\|LBA: 1' /tmp/append || grep -qi success /tmp/append
dd if=$DISK of=/tmp/back bs=4096 skip=1 count=2 iflag=direct
head -c 8192 /tmp/page | cmp - /tmp/back
blkzone report -c 1 $DISK
