"""The function on PCI Express: its BAR, queues in the host's memory, PRPs, and requests of TLPs."""
