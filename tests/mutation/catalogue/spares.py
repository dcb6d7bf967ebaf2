"""Spare blocks, and what they replace."""

from tests.mutation.fault import Fault

REPLACER = "rtl/channel/die_agent/test_block_replacer.py"
DECODER = "rtl/host_if/test_frontend.py::test_decoder"
ALLOCATOR = "rtl/zones/test_zones.py::test_allocator"
RECOVERY = "rtl/zones/test_zones.py::test_restore"

SPARES = (
    Fault(
        "spare-taken-twice",
        "channel/die_agent/block_replacer.py",
        "m.d.comb += [self._write.en.eq(1), self.change.valid.eq(1)]",
        "m.d.comb += self.change.valid.eq(1)",
        "a spare that replaces a block is not noted to be in use",
        REPLACER,
    ),
    Fault(
        "failed-spare-tried-again",
        "channel/die_agent/block_replacer.py",
        'm.d.sync += s.spare.eq(0)\n                    m.next = "LOOKUP"',
        'm.next = "REPLACE"',
        "for a spare that fails to erase the same one is taken again",
        REPLACER,
    ),
    Fault(
        "spare-in-use-erased",
        "channel/die_agent/block_replacer.py",
        "with m.Elif(s.of_spares & ~self._read.data):",
        "with m.Elif(s.of_spares & ~s.taken):",
        "what lies in a spare is erased with the spares of its number",
        REPLACER,
    ),
    Fault(
        "last-spare-never-used",
        "channel/die_agent/block_replacer.py",
        "with m.Elif(s.spare == self.config.geometry.spare_blocks - 1):",
        "with m.Elif(s.spare >= self.config.geometry.spare_blocks - 2):",
        "a zone is given up though there is one more spare",
        REPLACER,
    ),
    Fault(
        "restored-spare-still-free",
        "channel/die_agent/block_replacer.py",
        "            m.d.comb += [\n                self._write.en.eq(1),\n",
        "            m.d.comb += [\n",
        "after a loss of power a spare with data is taken for a bad block",
        REPLACER,
    ),
    Fault(
        "spares-handed-out",
        "zones/allocator.py",
        "m.d.comb += mark(erasing_candidate.zone, PhysicalState.USED)",
        "m.d.comb += mark(erasing_candidate.zone, PhysicalState.ERASED)",
        "spares that were erased are written as a zone",
        ALLOCATOR,
    ),
    Fault(
        "spare-that-does-not-exist",
        "host_if/decode.py",
        "parsed.generation[s.spare.within(s.generation)] >= g.spare_blocks",
        "parsed.generation[s.spare.within(s.generation)] > g.spare_blocks",
        "recovery may name a spare block past the last one",
        DECODER,
    ),
    Fault(
        "spare-of-another-plane",
        "zones/restore.py",
        "use.payload.plane.eq(place[s.plane.within(s.sequence)])",
        "use.payload.plane.eq(place[s.die.within(s.sequence)])",
        "recovery puts spares on the plane with the number of the die",
        RECOVERY,
    ),
)
