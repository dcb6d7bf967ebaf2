nvme disconnect -n "$NQN"
[ ! -b $DISK ]
echo "disconnected"
