nvme discover $AT > /tmp/discover
grep -q "subnqn: *$NQN" /tmp/discover
grep 'trtype' /tmp/discover
