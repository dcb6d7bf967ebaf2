"""The C driver: freestanding C11 for firmware, with the functions of `flashtrain.host` (docs/c-driver.md).

flashtrain_driver.h   the interface
internal.h            what its files share
controller.c          registers: identify, configure, enable, disable, count
layout.c              the division of zones and of memory
queues.c              entries and completions in the tensor buffer
streams.c             appends, writes, reads, zones
reports.c             zone reports
update.c              optimizer steps on the dies
device.c              format and shutdown
generations.c         resets, commits, pins and notes
journal.c             where records go, and changes of what they hold
record.c              a record in blocks
moments.c             allocation times in a record
recovery.c            recovery after a loss of power
inspection.c          pages with their identities
ownership.c           owners and write pointers of physical zones
record_reader.c       the newest record
checksums.c, memory.c, errors.c
sources.py            all of it as files, with flashtrain.h
"""

from .sources import driver_sources, write_driver

__all__ = ["driver_sources", "write_driver"]
