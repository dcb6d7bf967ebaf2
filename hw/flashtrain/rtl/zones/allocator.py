"""Physical zones: which one is written next, and which one is erased next."""

from amaranth import Module, Mux, Signal
from amaranth.lib import data, enum, stream, wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.zones.erase import EraseRequest, EraseResult
from flashtrain.rtl.zones.restore import RestoredZone
from flashtrain.spec import FmsConfig
from flashtrain.spec.identity import PageIdentity

WEAR_BITS = PageIdentity.wear.width


class PhysicalState(enum.Enum, shape=3):
    """What a physical zone is good for."""

    ERASED = 0
    DIRTY = 1  # released; to be erased before it is written again
    ERASING = 2
    USED = 3  # handed out; or spares, which are never
    BAD = 4  # an erase has failed; never used again


class Candidate(data.StructLayout):
    """The least-worn zone of some kind that was seen so far."""

    def __init__(self, config: FmsConfig):
        super().__init__({"found": 1, "zone": config.geometry.block_bits, "wear": WEAR_BITS})


class ErasedZone(data.StructLayout):
    """A physical zone to be written: allocator to zone manager."""

    def __init__(self, config: FmsConfig):
        super().__init__({"zone": config.geometry.zone_bits, "wear": PageIdentity.wear.width})


class ZoneAllocator(wiring.Component):
    """Keeps the least-worn erased zone at hand, and erases released ones as soon as possible.

    While there is something to choose, all zones are looked at, one per clock. At the end of such a pass the
    least-worn ERASED zone becomes `next`, if the one before was taken; and the least-worn DIRTY zone is
    erased, if no erase is under way. Of equals the lowest number is chosen. So a new `next` is there within
    two passes after the last was taken, and the erases of a run of released zones are less than two passes
    apart. A release is accepted within two clocks.

    After reset the table is filled, one zone per clock: ERASED with `factory`, else DIRTY; wear 0.

    While `recovering` all zones are USED at first, whatever `factory` is, and then what they are restored as:
    a zone in 2 clocks. None is erased until it is over.

    The spare blocks of one number count as a zone that is never handed out. It is erased as others are, so
    that nothing of what was in them before comes back after a loss of power.

    Members
    -------
    factory : In(1)                      all zones are erased
    recovering : In(1)                   from reset on, if at all
    restored : In(stream(RestoredZone))  while recovering
    next : Out(stream(ErasedZone))       an erased zone, to be used
    release : In(stream(zone_bits))      a zone whose content nobody needs any more
    exhausted : Out(1)                   no zone is at hand, and none will be until one is released
    erase : Out(stream(EraseRequest))    to the eraser
    erased : In(stream(EraseResult))     from the eraser, one for each request
    zone_select : In(zone_bits)
    zone_wear : Out(21)                  erases of `zone_select`, a clock later
    erases : Out(1)                      pulse: a zone was erased
    idle : Out(1)                        nothing to erase
    ready : Out(1)
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
        zones, rows = g.zones, g.blocks  # all that can be erased
        m.submodules.states = states = Memory(shape=PhysicalState, depth=rows, init=[])
        m.submodules.wears = wears = Memory(shape=WEAR_BITS, depth=rows, init=[])
        state, state_write = states.read_port(), states.write_port()
        wear, wear_write = wears.read_port(), wears.write_port()
        selected_wear = wears.read_port()
        m.d.comb += [selected_wear.addr.eq(self.zone_select), self.zone_wear.eq(selected_wear.data)]

        restored = self.restored.payload
        cursor = Signal(range(rows + 1))
        looked = Signal(range(rows))
        looking = Signal()
        best_erased = Signal(Candidate(self.config))
        best_dirty = Signal(Candidate(self.config))
        erasing = Signal()
        erasing_candidate = Signal(Candidate(self.config))
        erased_count = Signal(range(zones + 1))
        dirty_count = Signal(range(rows + 1))

        m.d.comb += [
            self.idle.eq(self.ready & ~dirty_count.any() & ~erasing),
            self.exhausted.eq(self.idle & ~erased_count.any() & ~self.next.valid),
        ]
        with m.If(self.next.valid & self.next.ready):
            m.d.sync += self.next.valid.eq(0)
        with m.If(self.erase.valid & self.erase.ready):
            m.d.sync += self.erase.valid.eq(0)
        m.d.comb += self.erase.payload.zone.eq(erasing_candidate.zone)

        def mark(zone, new_state):
            return [state_write.en.eq(1), state_write.addr.eq(zone), state_write.data.eq(new_state)]

        def note_wear(zone, erases):
            return [wear_write.en.eq(1), wear_write.addr.eq(zone), wear_write.data.eq(erases)]

        more = Signal(WEAR_BITS)  # its erases from now on; the count stops at its end
        m.d.comb += more.eq(erasing_candidate.wear + ~erasing_candidate.wear.all())

        def take_events():
            """One change from outside per clock: an erase that is over, or else a release."""
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
                    m.d.comb += note_wear(erasing_candidate.zone, more)
                    m.d.comb += self.erases.eq(1)
                    m.d.sync += erased_count.eq(erased_count + 1)
            with m.Elif(self.release.valid):
                m.d.comb += mark(self.release.payload, PhysicalState.DIRTY)
                m.d.sync += dirty_count.eq(dirty_count + 1)

        m.d.comb += [state.addr.eq(cursor), wear.addr.eq(cursor)]
        m.d.sync += looking.eq(0)
        with m.If(looking):
            for kind, best in ((PhysicalState.ERASED, best_erased), (PhysicalState.DIRTY, best_dirty)):
                with m.If((state.data == kind) & (~best.found | (wear.data < best.wear))):
                    m.d.sync += [best.found.eq(1), best.zone.eq(looked), best.wear.eq(wear.data)]

        with m.FSM(name="fsm"):
            with m.State("FILL"):
                with m.If(self.recovering):
                    m.d.comb += mark(cursor, PhysicalState.USED)
                with m.Elif(self.factory):
                    unwritten = PhysicalState.ERASED
                    if g.spare_blocks:
                        unwritten = Mux(cursor < zones, PhysicalState.ERASED, PhysicalState.USED)
                    m.d.comb += mark(cursor, unwritten)
                    m.d.sync += erased_count.eq(zones)
                with m.Else():
                    m.d.comb += mark(cursor, PhysicalState.DIRTY)
                    m.d.sync += dirty_count.eq(rows)
                m.d.comb += note_wear(cursor, 0)
                m.d.sync += cursor.eq(cursor + 1)
                with m.If(cursor == rows - 1):
                    m.d.sync += self.ready.eq(1)
                    m.next = "REST"
                    with m.If(self.recovering):
                        m.next = "RECOVER"

            with m.State("RECOVER"):
                take_events()
                m.d.comb += state.addr.eq(restored.zone)
                with m.If(~self.recovering):
                    m.next = "REST"
                # After a release, so that what is read holds.
                with m.Elif(self.restored.valid & ~self.release.valid):
                    m.next = "RESTORE"

            with m.State("RESTORE"):
                m.d.comb += [
                    self.restored.ready.eq(1),
                    mark(restored.zone, Mux(restored.dirty, PhysicalState.DIRTY, PhysicalState.USED)),
                    note_wear(restored.zone, restored.wear),
                ]
                # It may have been restored before.
                m.d.sync += dirty_count.eq(dirty_count + restored.dirty - (state.data == PhysicalState.DIRTY))
                m.next = "RECOVER"

            with m.State("REST"):
                take_events()
                m.d.sync += [cursor.eq(0), best_erased.found.eq(0), best_dirty.found.eq(0)]
                with m.If((~self.next.valid & erased_count.any()) | (~erasing & dirty_count.any())):
                    m.next = "LOOK"

            with m.State("LOOK"):
                take_events()
                with m.If(cursor == rows):
                    m.next = "CHOOSE_NEXT"
                with m.Else():
                    m.d.sync += [cursor.eq(cursor + 1), looking.eq(1), looked.eq(cursor)]

            with m.State("CHOOSE_NEXT"):
                with m.If(~self.next.valid & best_erased.found):
                    m.d.comb += mark(best_erased.zone, PhysicalState.USED)
                    m.d.sync += [
                        self.next.valid.eq(1),
                        self.next.payload.zone.eq(best_erased.zone),
                        self.next.payload.wear.eq(best_erased.wear),
                        erased_count.eq(erased_count - 1),
                    ]
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
                m.next = "REST"
        return m
