no_warnings
! grep -E 'nvme.*(timeout|I/O [0-9]+ QID|fatal|failed|Removing|frozen|duplicate)' /tmp/messages
echo "$(wc -l < /tmp/messages) messages of the kernel, no warning"
