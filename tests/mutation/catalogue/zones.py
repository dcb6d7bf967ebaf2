"""From commands to jobs: zones, their states and their generations."""

from tests.mutation.fault import Fault

AGE = "rtl/zones/test_zones.py::test_age"
STATE_MACHINE = "rtl/zones/test_zones.py::test_state_machine"
ERASE = "rtl/zones/test_zones.py::test_erase"
ALLOCATOR = "rtl/zones/test_zones.py::test_allocator"
ALL = "rtl/zones/test_zones.py::test_zones"
OF_UPDATES = "rtl/zones/test_zones.py::test_updates"
FAULTS = "rtl/zones/test_zones.py::test_faults"
RECOVERY = "rtl/zones/test_zones.py::test_recovery"

ZONES = (
    Fault(
        "closed-zones-are-not-active",
        "zones/state_machine.py",
        "no_active = (state == ZoneState.EMPTY) &",
        "no_active = ~_is_open(state) &",
        "a closed zone cannot be opened again when as many are active as may be",
        STATE_MACHINE,
    ),
    Fault(
        "no-room-for-the-last-block",
        "zones/state_machine.py",
        "with m.Elif(end > capacity):",
        "with m.Elif(end >= capacity):",
        "a zone cannot be filled to its last block",
        STATE_MACHINE,
    ),
    Fault(
        "update-before-its-source",
        "zones/state_machine.py",
        "with m.Elif(end > source.pointer):",
        "with m.Elif(zone.pointer > source.pointer):",
        "an update may begin where its source ends",
        STATE_MACHINE,
    ),
    Fault(
        "read-does-not-wait-for-its-write",
        "zones/manager.py",
        "stored.job.eq(registers.jobs_sent + 1)",
        "stored.job.eq(registers.jobs_sent)",
        "a read waits for the write job before the one that it must see",
        ALL,
    ),
    Fault(
        "old-job-numbers-believed",
        "zones/manager.py",
        "place.after.eq(Mux(jobs_sent - entry.job < jobs_sent - self.issued, entry.job, self.issued))",
        "place.after.eq(entry.job)",
        "a zone that was written two thousand million jobs ago is waited for",
        ALL,
    ),
    Fault(
        "released-twice",
        "zones/manager.py",
        "with m.If(table.reclaim):",
        "with m.If(table.stale):",
        "the scan releases the physical zone of an entry that has none",
        ALL,
    ),
    Fault(
        "most-worn-zone-first",
        "zones/allocator.py",
        "(wear.data < best.wear)",
        "(wear.data > best.wear)",
        "the zone with the most erases is taken next",
        ALLOCATOR,
    ),
    Fault(
        "bad-zone-erased-again",
        "zones/allocator.py",
        "mark(erasing_candidate.zone, PhysicalState.BAD)",
        "mark(erasing_candidate.zone, PhysicalState.DIRTY)",
        "a zone whose erase has failed is not given up",
        ALLOCATOR,
    ),
    Fault(
        "source-of-an-update-reset",
        "zones/in_flight.py",
        "return (command.stream == stream) | is_source",
        "return (command.stream == stream) | is_source & 0",
        "a stream is reset while updates read from it",
        OF_UPDATES,
    ),
    Fault(
        "pinned-source-reset",
        "zones/generations.py",
        "change.reset | (change.commit & ~self.source_condition.pinned)",
        "change.reset | change.commit",
        "a commit resets its source although it is pinned",
        OF_UPDATES,
    ),
    Fault(
        "reset-revives-a-read-only-zone",
        "zones/table.py",
        "survives = (stored.state == ZoneState.READ_ONLY) | (stored.state == ZoneState.OFFLINE)",
        "survives = stored.state == ZoneState.OFFLINE",
        "a zone that was made read-only is empty after a reset of its stream",
        ALL,
    ),
    Fault(
        "faulty-zone-waits-for-the-opening",
        "zones/manager.py",
        'fsm.ongoing("IDLE") | fsm.ongoing("OPEN")',
        'fsm.ongoing("IDLE")',
        "a zone waits for a command that waits for the tracker, which waits until the zone is retired",
        FAULTS,
    ),
    Fault(
        "faulty-zone-comes-back-from-offline",
        "zones/manager.py",
        "table.write.eq(table.entry.state != ZoneState.OFFLINE)",
        "table.write.eq(1)",
        "a zone that was retired to offline is read-only when an append to it fails",
        FAULTS,
    ),
    Fault(
        "one-channel-tells-of-failed-erases",
        "zones/erase_broadcast.py",
        "with m.If(failures.any()):",
        "with m.If(failures[0]):",
        "an erase that failed anywhere but in the first channel has succeeded",
        ERASE,
        quick=True,
    ),
    Fault(
        "reclaim-ends-a-zone-early",
        "zones/table.py",
        "left.eq(zones)",
        "left.eq(zones - 1)",
        "one stale zone is not reclaimed after a reset of its stream",
        ALL,
    ),
    Fault(
        "report-crosses-4-kib",
        "zones/report.py",
        "Mux(to_boundary < to_chunk_end, to_boundary, to_chunk_end) - 1",
        "to_chunk_end - 1",
        "a burst of a zone report crosses a boundary of 4 KiB",
        ALL,
    ),
    Fault(
        "write-answered-before-its-program",
        "zones/jobs.py",
        "(is_append & self.settings.non_volatile)",
        "((operation == Operation.APPEND) & self.settings.non_volatile)",
        "a non-volatile write is answered when its pages are in SRAM",
        ALL,
    ),
    Fault(
        "reserved-without-a-sequence",
        "zones/restore.py",
        "m.d.sync += self.sequence.eq(self.sequence + 1)",
        "m.d.sync += self.sequence.eq(self.sequence | 1)",
        "two allocations of physical zones have the same number",
        RECOVERY,
    ),
    Fault(
        "classes-end-a-second-late",
        "zones/table.py",
        "m.d.comb += passed.eq(Array(before.values())[self.retention] - self.since)",
        "m.d.comb += passed.eq(Array(before.values())[self.retention] - self.since - 1)",
        "data are taken for good in the second in which they are past their class",
        AGE,
    ),
    Fault(
        "age-of-the-youngest-data",
        "zones/manager.py",
        """        with m.If(allocates_zone):
            m.d.comb += [
                stored.time.eq(self.time),
""",
        """        with m.If(kinds.is_append):
            m.d.comb += stored.time.eq(self.time)
        with m.If(allocates_zone):
            m.d.comb += [
""",
        "each append to a zone makes all its data young",
        ALL,
    ),
    Fault(
        "source-as-old-as-its-stream-may-be",
        "zones/manager.py",
        "m.d.comb += self._age.retention.eq(source.retention)",
        "m.d.comb += []",
        "the source of an update is judged by the class of the destination",
        OF_UPDATES,
    ),
)
