"""Linux as a judge: Debian's kernel and tools in QEMU, as a host of `flashtrain serve`."""
