length=$ZONE_SECTORS
expect "$(state_of 0)" oi "zone 0 after an append"
blkzone open -o $length -l $length $DISK
expect "$(state_of 1)" oe "zone 1 after open"
blkzone close -o $length -l $length $DISK
# An open zone without data goes back to empty in the standard, and to closed in the device.
blkzone finish -o $length -l $length $DISK
expect "$(state_of 1)" fu "zone 1 after finish"
blkzone close -o 0 -l $length $DISK
expect "$(state_of 0)" cl "zone 0 after close"
blkzone reset -o 0 -l $((2 * length)) $DISK
expect "$(state_of 0)" em "zone 0 after reset"
expect "$(state_of 1)" em "zone 1 after reset"
echo "open, closed, full, empty"
