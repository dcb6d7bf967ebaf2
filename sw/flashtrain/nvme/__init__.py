"""NVMe over TCP: a target in front of a `Device`, a client of our own, and what both send.

`wire` has the formats of the standard. `target` serves the streams of a device as namespaces. `client` is the
host's side for tests and benchmarks. A citation names its revision: NVM Express Base 2.0, NVMe/TCP 1.0 (the
transport), NVM Command Set 1.0, or ZNS 1.1 (the Zoned Namespace Command Set).
"""
