"""Formats of NVMe over TCP: PDUs, digests, commands, data pointers and statuses."""
