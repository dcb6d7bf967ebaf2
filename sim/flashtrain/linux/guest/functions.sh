# Functions and names of the steps. The settings are in /etc/settings.
NQN=nqn.2025-01.example.flashtrain:device
HOST=nqn.2014-08.org.nvmexpress:uuid:8c0e6c52-26f8-4f6c-9a5a-5d1f3d1c2a10
AT="-t tcp -a 10.0.2.100 -s 4420"
DISK=/dev/nvme0n1
# What fio says.
FIO=/tmp/fio.txt
# A second device.
NEIGHBOUR_NQN=nqn.2025-01.example.flashtrain:neighbour
NEIGHBOUR_AT="-t tcp -a 10.0.2.101 -s 4420"
NEIGHBOUR_DISK=/dev/nvme1n1

connect() {
    connect_to $DISK $AT -n "$NQN"
}

# Connect to a subsystem: its disk, and options.
connect_to() {
    local disk=$1
    shift
    nvme connect "$@" --hostnqn="$HOST" --reconnect-delay=1 --keep-alive-tmo=30
    wait_for_disk "$disk"
    # It sends the writes of a zone one after the other; Linux sets it by itself since 6.10, udev before.
    echo mq-deadline > "/sys/block/${disk#/dev/}/queue/scheduler"
}

# Wait until a disk is there with all its zones.
wait_for_disk() {
    local disk=$1 tries=0
    until [ -b "$disk" ] && blkzone report -c 1 "$disk" > /dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || return 1
        sleep 0.1
    done
}

# The zone's state, of the zone with this number: em, oi, oe, cl, fu, ro, of.
state_of() {
    blkzone report -o $(($1 * ZONE_SECTORS)) -c 1 $DISK | sed 's/.*zcond: *[0-9]*(\(..\)).*/\1/'
}

expect() {
    [ "$1" = "$2" ] || { echo "$3: $1, expected $2"; return 1; }
}

reset_all() {
    blkzone reset $DISK
}

# fio on zones of the disk, with checks of all that it writes: name, first zone, zones, and options.
fio_zones() {
    local name=$1 first=$2 zones=$3
    shift 3
    fio --name="$name" --filename=$DISK --direct=1 --zonemode=zbd --ioengine=libaio \
        --offset="${first}z" --size="${zones}z" --verify=crc32c --output=$FIO "$@" || { cat $FIO; return 1; }
    grep -q 'err= *0' $FIO || { cat $FIO; return 1; }
    grep -E '^ *(WRITE|READ):' $FIO | sed 's/.*bw=\([^ ]*\).*io=\([^ ]*\).*/\2 at \1/' | tr '\n' ' '
    echo
}

# The kernel has not warned of itself.
no_warnings() {
    dmesg > /tmp/messages
    ! grep -E 'WARNING:|BUG:|Call Trace|Oops' /tmp/messages
}

# Commands of a disk time out after so many milliseconds.
time_out_after() {
    echo "$2" > "/sys/block/${1#/dev/}/queue/io_timeout"
}
