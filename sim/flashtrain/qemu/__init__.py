"""QEMU of Debian's packages: an emulated machine for `flashtrain.linux`, and an NVMe controller to compare ours with."""
