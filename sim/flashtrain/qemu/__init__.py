"""QEMU of Debian's packages: the machine of `flashtrain.linux`, and an NVMe controller to compare with."""
