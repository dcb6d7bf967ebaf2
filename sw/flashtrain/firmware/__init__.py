"""The firmware of a drive on PCI Express: freestanding C99, which answers admin commands (docs/pcie.md).

flashtrain_firmware.h   the interface
internal.h              what its files share
firmware.c              the start, and the steps
admin.c                 checks of all commands, and the answer to each; resets of the controller
queues.c                I/O queues
pages.c                 Identify and log pages
health.c                the health log page, by the controller's registers
features.c              features
events.c                asynchronous events, and the error log
transfers.c             data in the pages of the host
tables.c                the block of tables
mailbox.c               accesses of the mailbox
tables.py               makes the block, from what the target over TCP answers with
sources.py              all of it as files, with the headers of its constants
binding.py              the same code for this machine
"""

from .binding import Firmware, FirmwareError
from .tables import firmware_tables

__all__ = ["Firmware", "FirmwareError", "firmware_tables"]
