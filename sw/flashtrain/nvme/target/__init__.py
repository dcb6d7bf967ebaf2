"""The target: connections of NVMe over TCP, their framing, and the admission of hosts."""
