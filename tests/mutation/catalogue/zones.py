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
        "no_active=(state == ZoneState.EMPTY) & prepared.no_active",
        "no_active=~is_open(state) & prepared.no_active",
        "a closed zone cannot be opened again when as many are active as may be",
        STATE_MACHINE,
    ),
    Fault(
        "no-room-for-the-last-block",
        "zones/state_machine.py",
        "past_end=zone.pointer > prepared.most_before",
        "past_end=zone.pointer >= prepared.most_before",
        "a zone cannot be filled to its last block",
        STATE_MACHINE,
    ),
    Fault(
        "update-before-its-source",
        "zones/state_machine.py",
        "prepared.source_before.eq(self.zone.pointer - prepared.written)",
        "prepared.source_before.eq(self.zone.pointer)",
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
        "place.after.eq(Mux(waits_for_job, checked.entry.job, registers.issued))",
        "place.after.eq(checked.entry.job)",
        "a zone that was written two thousand million jobs ago is waited for",
        ALL,
    ),
    Fault(
        "released-twice",
        "zones/manager.py",
        "with m.If(checked.reclaim):",
        "with m.If(checked.stale):",
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
        "self.change.reset | (self.change.commit & ~self.source_condition.pinned)",
        "self.change.reset | self.change.commit",
        "a commit resets its source although it is pinned",
        OF_UPDATES,
    ),
    Fault(
        "reset-revives-a-read-only-zone",
        "zones/table.py",
        "& ~is_retired(stored.state)",
        "& (stored.state != ZoneState.OFFLINE)",
        "a zone that was made read-only is empty after a reset of its stream",
        ALL,
    ),
    Fault(
        "restored-zone-takes-its-streams-generation",
        "zones/manager.py",
        "with m.If(is_retired(command.restored_state)):",
        "with m.If(0):",
        "a read-only zone that outlived a reset has lost its data after a recovery",
        RECOVERY,
    ),
    Fault(
        "lost-blocks-were-never-written",
        "zones/state_machine.py",
        "lost=unwritten & zone.unsure",
        "lost=Const(0)",
        "blocks that may have been lost are zeros to a host",
        STATE_MACHINE,
    ),
    Fault(
        "emptied-zone-stays-unsure",
        "zones/manager.py",
        "machine.zone.unsure.eq(found.entry.unsure & found.entry.mapped)",
        "machine.zone.unsure.eq(found.entry.unsure)",
        "a zone that was reset has media errors in the place of unwritten blocks",
        RECOVERY,
    ),
    Fault(
        "faulty-zone-waits-for-the-opening",
        "zones/manager.py",
        """            m.d.comb += self.open.valid.eq(registers.has_tag)
            self._visit(m, registers)
""",
        """            m.d.comb += self.open.valid.eq(registers.has_tag)
""",
        "a zone waits for a command that waits for the tracker, which waits until the zone is retired",
        FAULTS,
    ),
    Fault(
        "faulty-zone-comes-back-from-offline",
        "zones/manager.py",
        "table.write.eq(entry.state != ZoneState.OFFLINE)",
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
        "Mux(address[_CHUNK_BITS].all(), address[3:6], beat)",
        "beat",
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
        "m.d.comb += passed.eq(chosen - self.since)",
        "m.d.comb += passed.eq(chosen - self.since - 1)",
        "data are taken for good in the second in which they are past their class",
        AGE,
    ),
    Fault(
        "age-of-the-youngest-data",
        "zones/manager.py",
        """        with m.If(self._allocates_zone(registers)):
            m.d.comb += [
                stored.time.eq(self.time),
""",
        """        with m.If(kinds.is_append):
            m.d.comb += stored.time.eq(self.time)
        with m.If(self._allocates_zone(registers)):
            m.d.comb += [
""",
        "each append to a zone makes all its data young",
        ALL,
    ),
    Fault(
        "source-as-old-as-its-stream-may-be",
        "zones/manager.py",
        "Mux(registers.kinds.is_update, registers.source.retention, registers.settings.retention)",
        "registers.settings.retention",
        "the source of an update is judged by the class of the destination",
        OF_UPDATES,
    ),
    Fault(
        "count-of-a-report-without-its-filter",
        "zones/report.py",
        "total.eq(total + kept.matches)",
        "total.eq(total + 1)",
        "the header of a report counts zones that its filter leaves out",
        ALL,
    ),
    Fault(
        "next-zone-in-the-midst-of-a-descriptor",
        "zones/report.py",
        "g, entry = self.config.geometry, kept.entry",
        "g, entry = self.config.geometry, self.entry",
        "the last field of a descriptor is that of the next zone",
        ALL,
    ),
    Fault(
        "reset-recommended-of-an-active-zone",
        "zones/report.py",
        "_field(chunk, ZoneDescriptor.reset_recommended).eq(recommends & is_full)",
        "_field(chunk, ZoneDescriptor.reset_recommended).eq(recommends)",
        "a zone with old data that still takes more recommends its reset",
        ALL,
    ),
    Fault(
        "offline-from-full",
        "zones/state_machine.py",
        "*unless(retired), after.state.eq(ZoneState.OFFLINE)",
        "*unless(~is_active(state)), after.state.eq(ZoneState.OFFLINE)",
        "a full zone goes offline by the standard's action",
        STATE_MACHINE,
    ),
    Fault(
        "offline-of-all-zones-takes-full-ones",
        "zones/state_machine.py",
        "change.selected.eq(state == ZoneState.READ_ONLY)",
        "change.selected.eq((state == ZoneState.READ_ONLY) | (state == ZoneState.FULL))",
        "full zones go offline with the read-only ones",
        STATE_MACHINE,
    ),
    Fault(
        "pinned-stream-goes-offline",
        "zones/state_machine.py",
        "loses = (action == ZoneAction.RESET) | (action == ZoneAction.OFFLINE)",
        "loses = action == ZoneAction.RESET",
        "a zone of a pinned stream goes offline",
        STATE_MACHINE,
    ),
    Fault(
        "room-by-an-explicitly-open-zone",
        "zones/manager.py",
        "found_open = checked.entry.state == ZoneState.IMPLICITLY_OPEN",
        "found_open = checked.entry.state == ZoneState.EXPLICITLY_OPEN",
        "a zone that the host has opened is closed for another one",
        ALL,
    ),
    Fault(
        "closed-zone-keeps-its-open-resource",
        "zones/manager.py",
        "in_use.open.eq(registers.in_use_now.open - 1)",
        "in_use.open.eq(registers.in_use_now.open)",
        "a zone that is closed for another one does not give its resource back",
        ALL,
    ),
)
