"""NVMe: a `Device` as a subsystem, its transports TCP and PCI Express, and a client of our own.

`wire` has the formats of the standard. `subsystem` makes namespaces of a device's streams, and answers admin
and I/O commands. `target` is its transport TCP, `pcie` that of queues in a host's memory. `client` is the
host's side of TCP for tests and benchmarks. A citation names its revision: NVM Express Base 2.0, NVMe/TCP 1.0
(the transport), NVM Command Set 1.0, or ZNS 1.1 (the Zoned Namespace Command Set).
"""
