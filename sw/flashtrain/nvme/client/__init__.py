"""A host of NVMe over TCP in Python."""
