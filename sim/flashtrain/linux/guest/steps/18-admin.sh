# The mandatory parts of an I/O controller, as nvme-cli and its libnvme read them.
field() { sed -n "s/^$1[[:space:]]*: *//p" "$2"; }
listed() { grep -qx "$2" "$1" || { echo "$2 is not in $1"; return 1; }; }
nvme id-ctrl /dev/nvme0 > /tmp/id
for name in sn mn fr ver ctratt cntrltype frmw wctemp cctemp kas maxcmd nn vwc sgls subnqn ioccsz iorcsz; do
    case "$(field $name /tmp/id)" in "" | 0 | 0x0) echo "$name is absent or 0"; false ;; esac
done
expect "$(field sqes /tmp/id) $(field cqes /tmp/id)" "0x66 0x44" "sizes of entries"
nvme id-iocs /dev/nvme0
nvme nvm-id-ctrl /dev/nvme0
nvme cmdset-ind-id-ns $DISK -n 1
nvme get-property /dev/nvme0 -o 0x68
expect "$(nvme list-ns /dev/nvme0)" "[   0]:0x1" "namespaces"
nvme ns-descs $DISK > /tmp/descriptors
expect "$(field uuid /tmp/descriptors)" "$(cat /sys/block/nvme0n1/uuid)" "UUID"
expect "$(field csi /tmp/descriptors)" 0x2 "command set"
# Pages, features and commands: the mandatory ones are listed, and what is listed can be read.
nvme supported-log-pages /dev/nvme0 | sed -n 's/^LID 0x\([0-9a-f]*\) .*/\1/p' > /tmp/pages
for page in 0 1 2 3 5 12; do listed /tmp/pages $page; done
nvme changed-ns-list-log /dev/nvme0
nvme mi-cmd-support-effects-log /dev/nvme0
nvme zns changed-zone-list $DISK
! nvme self-test-log /dev/nvme0
nvme fid-support-effects-log /dev/nvme0 | sed -n 's/^FID \([0-9a-f]*\) .*/\1/p' > /tmp/features
for feature in 01 02 04 05 07 0a 0b 0f; do listed /tmp/features $feature; done
while read -r feature; do
    case $feature in 05) of="-n 1" ;; 81) of="-l 16 -c 1" ;; *) of="" ;; esac
    nvme get-feature /dev/nvme0 -f "0x$feature" $of
done < /tmp/features
nvme effects-log /dev/nvme0 -c 2 | sed -n 's/^\(A\|IO\)CS\([0-9]*\) .*[13]$/\1 \2/p' > /tmp/commands
for command in "A 2" "A 6" "A 8" "A 9" "A 10" "A 12" "A 24" "IO 0" "IO 1" "IO 2" "IO 121" "IO 122"; do
    listed /tmp/commands "$command"
done
# Refused commands are entries of the error log, and are counted.
nvme error-log /dev/nvme0 -e 1 > /tmp/errors
nvme smart-log /dev/nvme0 > /tmp/smart
expect "$(field error_count /tmp/errors)" "$(field num_err_log_entries /tmp/smart)" "entries of the error log"
echo "$(wc -l < /tmp/pages) log pages, $(wc -l < /tmp/features) features, $(wc -l < /tmp/commands) commands"
