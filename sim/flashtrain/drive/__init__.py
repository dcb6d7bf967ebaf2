"""The drive in RTL as a function of PCI Express, with the C firmware beside the simulation.

`rtl_function.py` stands in the place of `flashtrain.nvme.pcie.Function`. A host accesses the registers of the
RTL, which reads and writes the host's memory in place. `command_log.py` counts what passes in the
host's queues.
"""
