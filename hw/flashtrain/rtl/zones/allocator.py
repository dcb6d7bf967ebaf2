"""Physical zones: the next one to be written, and the next one to be erased."""

from collections.abc import Callable

from amaranth import Module, Mux, Signal, Value, ValueLike
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.zones.erase_broadcast import EraseRequest, EraseResult
from flashtrain.rtl.zones.restore import RestoredZone
from flashtrain.spec import FmsConfig
from flashtrain.spec.identity import PageIdentity

WEAR_BITS = PageIdentity.wear.width

Mark = Callable[[ValueLike, ValueLike], list]
"""Statements that store something of a zone."""


class PhysicalState(enum.Enum, shape=3):
    """The life of a physical zone."""

    ERASED = 0
    DIRTY = 1  # released; to be erased before it is written again
    ERASING = 2
    USED = 3  # allocated; or spare blocks, which never are
    BAD = 4  # an erase failed; never used again


class Candidate(data.StructLayout):
    """The least-worn zone of one state that the scan has met so far."""

    def __init__(self, config: FmsConfig):
        super().__init__({"found": 1, "zone": config.geometry.block_bits, "wear": WEAR_BITS})


class ErasedZone(data.StructLayout):
    """A physical zone to be written: allocator to zone manager."""

    def __init__(self, config: FmsConfig):
        super().__init__({"zone": config.geometry.zone_bits, "wear": PageIdentity.wear.width})


class ZoneAllocator(wiring.Component):
    """Offers the least-worn erased zone, and erases released ones as soon as possible.

    While there is something to choose, the allocator scans all zones, one per cycle. At the end of a scan the
    least-worn ERASED zone becomes `next`, if the one before was taken. The least-worn DIRTY zone is erased,
    if no erase is in progress. Of equals the lowest number wins.

    After reset the table is filled, one zone per cycle: ERASED with `factory`, else DIRTY; wear 0.

    With `recovering` all zones are USED at first, whatever `factory` is. RESTORE commands then set their
    states, 2 cycles per zone. No zone is erased until recovery ends.

    The spare blocks of one number count as a zone that is never allocated. It is erased as others are, so
    that none of its old content returns after a loss of power.

    Latency: a new `next` within two scans after the last was taken; two erases less than two scans apart; a
    release is accepted within 2 cycles. Cost: two memories of a word per zone.

    Members
    -------
    factory : In(1)                      all zones are erased
    recovering : In(1)                   from reset on, if at all
    restored : In(stream(RestoredZone))  while recovering
    next : Out(stream(ErasedZone))       an erased zone, to be used
    release : In(stream(zone_bits))      a zone whose content is no longer needed
    exhausted : Out(1)                   no zone is offered, and none will be until one is released
    erase : Out(stream(EraseRequest))    to the eraser
    erased : In(stream(EraseResult))     from the eraser, one for each request
    zone_select : In(zone_bits)
    zone_wear : Out(21)                  erases of `zone_select`, a cycle later
    erases : Out(1)                      pulse: a zone was erased
    idle : Out(1)                        nothing to erase
    ready : Out(1)                       initialised
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        zone_bits = config.geometry.zone_bits
        super().__init__({
            "factory": In(1),
            "recovering": In(1),
            "restored": In(stream.Signature(RestoredZone(config))),
            "next": Out(stream.Signature(ErasedZone(config))),
            "release": In(stream.Signature(zone_bits)),
            "exhausted": Out(1),
            "erase": Out(stream.Signature(EraseRequest(config))),
            "erased": In(stream.Signature(EraseResult())),
            "zone_select": In(zone_bits),
            "zone_wear": Out(WEAR_BITS),
            "erases": Out(1),
            "idle": Out(1),
            "ready": Out(1),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        g = self.config.geometry
        zones, blocks = g.zones, g.blocks  # zones, and all that can be erased
        m.submodules.states = states = Memory(shape=PhysicalState, depth=blocks, init=[])
        m.submodules.wears = wears = Memory(shape=WEAR_BITS, depth=blocks, init=[])
        state, state_write = states.read_port(), states.write_port()
        wear, wear_write = wears.read_port(), wears.write_port()
        selected_wear = wears.read_port()
        m.d.comb += [selected_wear.addr.eq(self.zone_select), self.zone_wear.eq(selected_wear.data)]

        cursor = Signal(range(blocks + 1))
        scanned = Signal(range(blocks))  # the zone whose state the memory reads out
        scanning = Signal()
        best_erased = Signal(Candidate(self.config))
        best_dirty = Signal(Candidate(self.config))
        erasing = Signal()
        erasing_candidate = Signal(Candidate(self.config))
        erased_count = Signal(range(zones + 1))
        dirty_count = Signal(range(blocks + 1))

        m.d.comb += [
            self.idle.eq(self.ready & ~dirty_count.any() & ~erasing),
            self.exhausted.eq(self.idle & ~erased_count.any() & ~self.next.valid),
        ]
        with m.If(self.next.valid & self.next.ready):
            m.d.sync += self.next.valid.eq(0)
        with m.If(self.erase.valid & self.erase.ready):
            m.d.sync += self.erase.valid.eq(0)
        m.d.comb += self.erase.payload.zone.eq(erasing_candidate.zone)

        def mark(zone: ValueLike, new_state: ValueLike) -> list:
            return [state_write.en.eq(1), state_write.addr.eq(zone), state_write.data.eq(new_state)]

        def note_wear(zone: ValueLike, erases: ValueLike) -> list:
            return [wear_write.en.eq(1), wear_write.addr.eq(zone), wear_write.data.eq(erases)]

        more_wear = Signal(WEAR_BITS)  # after this erase; the count saturates
        m.d.sync += more_wear.eq(erasing_candidate.wear + ~erasing_candidate.wear.all())

        def take_events() -> None:
            """One event per cycle: the end of an erase, or else a release."""
            m.d.comb += [self.erased.ready.eq(1), self.release.ready.eq(~self.erased.valid)]
            with m.If(self.erased.valid):
                m.d.sync += erasing.eq(0)
                with m.If(self.erased.payload.failed):
                    m.d.comb += mark(erasing_candidate.zone, PhysicalState.BAD)
                if g.spare_blocks:
                    with m.Elif(erasing_candidate.zone >= zones):
                        m.d.comb += mark(erasing_candidate.zone, PhysicalState.USED)
                with m.Else():
                    m.d.comb += mark(erasing_candidate.zone, PhysicalState.ERASED)
                    m.d.comb += note_wear(erasing_candidate.zone, more_wear)
                    m.d.comb += self.erases.eq(1)
                    m.d.sync += erased_count.eq(erased_count + 1)
            with m.Elif(self.release.valid):
                m.d.comb += mark(self.release.payload, PhysicalState.DIRTY)
                m.d.sync += dirty_count.eq(dirty_count + 1)

        m.d.comb += [state.addr.eq(cursor), wear.addr.eq(cursor)]
        m.d.sync += scanning.eq(0)
        with m.If(scanning):
            for kind, best in ((PhysicalState.ERASED, best_erased), (PhysicalState.DIRTY, best_dirty)):
                with m.If((state.data == kind) & (~best.found | (wear.data < best.wear))):
                    m.d.sync += [best.found.eq(1), best.zone.eq(scanned), best.wear.eq(wear.data)]

        with m.FSM(name="fsm"):
            with m.State("FILL"):
                self._fill(m, cursor, mark, erased_count, dirty_count)
                m.d.comb += note_wear(cursor, 0)
            with m.State("RECOVER"):
                take_events()
                m.d.comb += state.addr.eq(self.restored.payload.zone)
                with m.If(~self.recovering):
                    m.next = "IDLE"
                # A release is stored before the state of the restored zone is read.
                with m.Elif(self.restored.valid & ~self.release.valid):
                    m.next = "RESTORE"
            with m.State("RESTORE"):
                self._restore(m, state.data, mark, note_wear, dirty_count)
                m.next = "RECOVER"

            with m.State("IDLE"):
                take_events()
                m.d.sync += [cursor.eq(0), best_erased.found.eq(0), best_dirty.found.eq(0)]
                with m.If((~self.next.valid & erased_count.any()) | (~erasing & dirty_count.any())):
                    m.next = "SCAN"
            with m.State("SCAN"):
                take_events()
                with m.If(cursor == blocks):
                    m.next = "CHOOSE_NEXT"
                with m.Else():
                    m.d.sync += [cursor.eq(cursor + 1), scanning.eq(1), scanned.eq(cursor)]
            with m.State("CHOOSE_NEXT"):
                self._choose_next(m, best_erased, mark, erased_count)
                m.next = "CHOOSE_ERASE"
            with m.State("CHOOSE_ERASE"):
                with m.If(~erasing & best_dirty.found):
                    m.d.comb += mark(best_dirty.zone, PhysicalState.ERASING)
                    m.d.sync += [
                        self.erase.valid.eq(1),
                        erasing.eq(1),
                        erasing_candidate.eq(best_dirty),
                        dirty_count.eq(dirty_count - 1),
                    ]
                m.next = "IDLE"
        return m

    def _fill(self, m: Module, cursor: Signal, mark: Mark, erased_count: Signal, dirty_count: Signal) -> None:
        """FILL: the state of each zone after reset."""
        zones, blocks = self.config.geometry.zones, self.config.geometry.blocks
        with m.If(self.recovering):
            m.d.comb += mark(cursor, PhysicalState.USED)
        with m.Elif(self.factory):
            unwritten = PhysicalState.ERASED
            if blocks != zones:
                unwritten = Mux(cursor < zones, PhysicalState.ERASED, PhysicalState.USED)
            m.d.comb += mark(cursor, unwritten)
            m.d.sync += erased_count.eq(zones)
        with m.Else():
            m.d.comb += mark(cursor, PhysicalState.DIRTY)
            m.d.sync += dirty_count.eq(blocks)
        m.d.sync += cursor.eq(cursor + 1)
        with m.If(cursor == blocks - 1):
            m.d.sync += self.ready.eq(1)
            m.next = "IDLE"
            with m.If(self.recovering):
                m.next = "RECOVER"

    def _restore(self, m: Module, state: Value, mark: Mark, note_wear: Mark, dirty_count: Signal) -> None:
        """RESTORE: the state of a zone after a loss of power. An earlier RESTORE may have made it dirty."""
        restored = self.restored.payload
        m.d.comb += [
            self.restored.ready.eq(1),
            mark(restored.zone, Mux(restored.dirty, PhysicalState.DIRTY, PhysicalState.USED)),
            note_wear(restored.zone, restored.wear),
        ]
        m.d.sync += dirty_count.eq(dirty_count + restored.dirty - (state == PhysicalState.DIRTY))

    def _choose_next(self, m: Module, best_erased: data.View, mark: Mark, erased_count: Signal) -> None:
        with m.If(~self.next.valid & best_erased.found):
            m.d.comb += mark(best_erased.zone, PhysicalState.USED)
            m.d.sync += [
                self.next.valid.eq(1),
                self.next.payload.zone.eq(best_erased.zone),
                self.next.payload.wear.eq(best_erased.wear),
                erased_count.eq(erased_count - 1),
            ]
