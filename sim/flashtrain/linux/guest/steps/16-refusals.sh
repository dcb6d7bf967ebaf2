# Each of these is refused once, and Linux believes it.
before=$(dmesg | wc -l)
! dd if=/tmp/page of=$DISK bs=4096 count=1 seek=5 oflag=direct conv=notrunc
! nvme zns zone-append $DISK -s 1 -z 4096 -d /tmp/page
! nvme zns open-zone $DISK -s 0xfffffff0
! nvme id-ns /dev/nvme0 -n 77
dd if=$DISK of=/dev/null bs=4096 count=16 iflag=direct
echo "refused: a write not at the pointer, an append not at a start, a zone that is not there"
