"""An NVMe controller as a function of PCI Express, and QEMU as its host.

`function.py` is the controller at the level of requests: the host reads and writes its configuration space
and its BAR, and the function reads and writes the host's memory (`memory.HostMemory`). `qemu.py` carries
these requests to an unmodified QEMU. Sections of PCI Express are those of its Base 5.0.
"""
