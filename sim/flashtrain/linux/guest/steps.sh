echo booted
lsmod
ip addr
nvme discover -t tcp -a 10.0.2.100 -s 4420
nvme connect -t tcp -a 10.0.2.100 -s 4420 -n nqn.2025-01.example.flashtrain:device --hostnqn=nqn.2014-08.org.nvmexpress:uuid:11111111-2222-3333-4444-555555555555
sleep 1
nvme list
ls /dev
dmesg | tail -20
blkzone report /dev/nvme0n1 | head -3
