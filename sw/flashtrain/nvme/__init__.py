"""NVMe over TCP: a target in front of a `Device`, a client of our own, and what both send.

`wire` has the formats of the standard. `target` serves the streams of a device as namespaces. `client` is the
host's side for tests and benchmarks. Numbers are those of NVM Express Base 2.0 ("Base"), TCP
Transport 1.0 ("TCP"), NVM Command Set 1.0 ("NVM") and Zoned Namespace Command Set 1.1 ("ZNS").
"""
