"""The C driver: freestanding C11 for firmware, with the functions of `flashtrain.host` (docs/c-driver.md).

flashtrain_driver.h   the interface
internal.h            what its files share
controller.c          registers: identify, configure, enable, disable, count
geometry.c            counts of blocks, and their places
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
ownership.c           owners of physical zones
spares.c              owners with pages in spare blocks
spare_zones.c         owners with pages in spare blocks only
write_pointers.c      write pointers of physical zones
marks.c               factory marks of bad blocks
randomizer.c          the key of an identity
block_table.c         spares in the places of other blocks
allocations.c         erase counts and the next sequence number
restore.c             RESTORE commands
refresh.c             the end of a refresh that the power has cut
record_reader.c       the newest record
checksums.c, memory.c, errors.c
sources.py            all of it as files, with flashtrain.h
"""

from .sources import driver_sources, write_driver

__all__ = ["driver_sources", "write_driver"]
