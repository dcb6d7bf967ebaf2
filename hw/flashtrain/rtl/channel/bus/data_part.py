"""The data part of a bus controller with SCA: pages on DQ, beside the commands."""

from amaranth import Array, Cat, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import BufferPage, BusRequest, FillTarget, PageSource, PageTarget
from flashtrain.spec import FmsConfig
from flashtrain.spec.nand import FEATURE_PARAMETERS, BusOp
from flashtrain.spec.sca import PACKET_CYCLES, Header

from .bus_arbiter import BusArbiter
from .bus_cycles import (
    ANSWER_CYCLES,
    IDENTITY_BEATS,
    BeatCounter,
    ReceivePort,
    is_of_identity,
    part_length,
    received_beats,
    variable_beats,
)
from .packet_sender import Packet


def end_beats(config: FmsConfig) -> int:
    """Beats of a page that pass beside DATA_END, a quarter of the shortest page at most."""
    return min(_packet_cycles(config), _least_beats(config) // 4)


def _packet_cycles(config: FmsConfig) -> int:
    return max(config.timing.cycles("tca"), PACKET_CYCLES)


def _least_beats(config: FmsConfig) -> int:
    shortest = min(config.bus_page_bytes, config.loaded_page_bytes)
    return min(shortest, config.part_bytes or shortest) // 2


class DataPart(wiring.Component):
    """Grants the data bus to a request, and moves its page.

    The packet DATA_BEGIN selects a die, and its data follow `tsce` after it. DATA_END is sent so that it ends
    with the last beat; then DATA_BEGIN of the next page follows at once. A page to a die may pause, but not
    in the beats beside DATA_END: they are there before it begins. While the next page waits, no command
    begins that would delay either packet.

    The identity of a page, of which a part has come, is a burst of its own, and shorter than a DATA_END.
    Until its grant no other page from a die is granted, because the page's place in the read buffer is taken.
    Its first beat may come as late as `ANSWER_CYCLES` after its last request.

    Latency: 2 cycles from a request to its DATA_BEGIN. Throughput: two bytes per cycle within a page,
    `NandTiming.burst_gap` between the pages of dies, in both directions.

    Members
    -------
    requests : In(stream(BusRequest)).array(dies)   taken when a page from the die begins
    named : In(dies)     the operation is a data in whose page has its address already
    offline : In(dies)
    done : Out(dies)     pulse: the die's operation has ended
    moved : Out(dies)    pulse: a page has gone to the die, and its last command may follow
    packets : Out(stream(Packet)), hold, hold_status : Out(1)   see `PacketSender`
    fetch, origin_of, origin, fill, fill_room : members of `BusController`
    beats_valid, beats_ready : In(1), Out(1)   of `beats`
    last_beats : In(1)   so many beats are there as pass beside DATA_END (`end_beats`), and one more
    receiver : Out(ReceivePort)
    re, dqs, parameter : Out(1), byte : Out(8)   see `PinControl`
    takes, gives : Out(1)   data go to a die, come from one
    waits : Out(1)       a page has been granted, and no data are moving
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        dies = config.geometry.dies
        super().__init__({
            "requests": In(stream.Signature(BusRequest(config))).array(dies),
            "named": In(dies),
            "offline": In(dies),
            "done": Out(dies),
            "moved": Out(dies),
            "packets": Out(stream.Signature(Packet(dies))),
            "hold": Out(1),
            "hold_status": Out(1),
            "fetch": Out(stream.Signature(BufferPage(config))),
            "origin_of": Out(BufferPage(config)),
            "origin": In(PageTarget(config)),
            "fill": Out(stream.Signature(FillTarget(config))),
            "fill_room": In(1),
            "beats_valid": In(1),
            "beats_ready": Out(1),
            "last_beats": In(1),
            "receiver": Out(ReceivePort(most_beats=variable_beats(config))),
            **dict.fromkeys(("re", "dqs", "parameter"), Out(1)),
            "byte": Out(8),
            **dict.fromkeys(("takes", "gives", "waits"), Out(1)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        dies = self.config.geometry.dies
        m.submodules.arbiter = self._arbiter = BusArbiter(dies)
        self._die = Signal.like(self._arbiter.die)  # of the next page
        self._die_offline = Signal()
        self._request = Signal(BusRequest(self.config))
        self._moving = Signal(dies)  # pages to them
        self._is_out, self._needs_address = Signal(), Signal()
        # What the choice of a page tells its move, and the reverse.
        self._prepare, self._go, self._prepared = Signal(), Signal(), Signal()
        self._idle, self._armed, self._ending = Signal(), Signal(), Signal()
        self._next_waits = Signal()  # another page waits for this one
        # The identity of a page is still to come, of this die.
        self._owes_identity, self._owes = Signal(), Signal.like(self._die)
        self._address(m)
        self._choose_pages(m)
        self._move_pages(m)
        return m

    def _own(self, die: Signal) -> Cat:
        return Cat(die == number for number in range(self.config.geometry.dies))

    def _address(self, m: Module) -> None:
        request, arbiter = self._request, self._arbiter
        m.d.comb += [
            arbiter.valid.eq(Cat(item.valid for item in self.requests) & ~self._moving),
            self.fetch.payload.slot.eq(request.slot),
            self.fetch.payload.plane.eq(request.plane),
            self.origin_of.eq(self.fetch.payload),
            self.fill.payload.tag.eq(Mux(request.origin, self.origin.tag, request.tag)),
            self.fill.payload.buffer_block.eq(
                Mux(request.origin, self.origin.buffer_block, request.buffer_block)
            ),
            self.fill.payload.from_array.eq(request.from_array),
            self.packets.payload.die.eq(self._die),
            self._is_out.eq(request.kind.gives_page),
        ]
        source = self.fill.payload.source
        for name in PageSource(self.config).members:
            m.d.comb += source[name].eq(self._die if name == "die" else request[name])
        for kind, item in zip(arbiter.kinds, self.requests, strict=True):
            m.d.comb += [kind.moves_page.eq(1), kind.gives_page.eq(item.payload.kind.gives_page)]
        if self.config.part_bytes:
            m.d.comb += [
                self.fill.payload.part.eq(request.part),
                self.fill.payload.moves_part.eq(request.moves_part),
                self.receiver.beats.eq(received_beats(self.config, request)),
            ]
            for kind, item in zip(arbiter.kinds, self.requests, strict=True):
                with m.If(is_of_identity(item.payload)):
                    m.d.comb += kind.gives_page.eq(0)
        for moving, moved in zip(self._moving, self.moved, strict=True):
            with m.If(moved):
                m.d.sync += moving.eq(0)
        m.d.sync += [
            arbiter.room.eq(self.fill_room & ~self._owes_identity),
            self._next_waits.eq(arbiter.valid.any()),
        ]

    def _choose_pages(self, m: Module) -> None:
        """The die of the next page, and the packets around its data."""
        arbiter, own = self._arbiter, self._own(self._die)
        timing = self.config.timing
        # The wait of READY, and the cycle to the pins, count as well. A page without an address cycle before
        # it waits for its address.
        gap, tadl = max(timing.burst_gap - 2, 1), timing.cycles("tadl")
        m.submodules.waiting = waiting = BeatCounter(max(gap, tadl))
        m.d.comb += [waiting.port.count.eq(1), self.waits.eq(1)]

        def wait(cycles: int, state: str) -> None:
            m.d.comb += [waiting.port.load.eq(1), waiting.port.length.eq(cycles - 1)]
            m.next = state

        def select(header: Header) -> None:
            m.d.comb += [self.packets.valid.eq(1), self.packets.payload.header.eq(header)]

        with m.FSM(name="choice"):
            with m.State("CHOOSE"):
                m.d.comb += [arbiter.granted.eq(arbiter.grant), self.waits.eq(0)]
                m.d.sync += self._die.eq(arbiter.die)
                with m.If(arbiter.grant):
                    m.next = "GRANTED"
            with m.State("GRANTED"):
                offline = Array(self.offline)[self._die]
                m.d.sync += [
                    self._die_offline.eq(offline),
                    self._needs_address.eq(~Array(self.named)[self._die]),
                    self._prepared.eq(0),
                ]
                for number, item in enumerate(self.requests):
                    gives = item.payload.kind.gives_page
                    last = gives | (item.payload.op == BusOp.SET_READ_LEVEL) | offline
                    with m.If(own[number]):
                        m.d.sync += [self._request.eq(item.payload), self._moving[number].eq(~last)]
                        m.d.comb += item.ready.eq(last)
                        m.next = "SELECT"
                        with m.If(offline):
                            m.next = "OFFLINE"
                            with m.If(gives):
                                m.next = "PAD"
                        if self.config.part_bytes:
                            self._expect_identity(m, item.payload, offline)
            with m.State("OFFLINE"):
                m.d.comb += self.done.eq(own)
                m.next = "CHOOSE"
            with m.State("PAD"):
                m.d.comb += self._prepare.eq(~self._prepared)
                with m.If(self._prepared & self._idle):
                    m.next = "CHOOSE"
            with m.State("SELECT"):
                select(Header.DATA_BEGIN)
                with m.If(self.packets.ready):
                    wait(gap, "SETTLE")
                    with m.If(~self._is_out & self._needs_address):
                        wait(max(gap, tadl), "SETTLE")
            with m.State("SETTLE"):
                m.d.comb += self._prepare.eq(~self._prepared)
                with m.If(waiting.port.ended):
                    m.next = "READY"
            with m.State("READY"):
                m.d.comb += [self._prepare.eq(~self._prepared), self._go.eq(1)]
                with m.If(self._armed):
                    m.next = "MOVE"
            with m.State("MOVE"):
                m.d.comb += self.waits.eq(0)
                with m.If(self._ending):
                    m.next = "END"
            with m.State("END"):
                select(Header.DATA_END)
                with m.If(self.packets.ready):
                    m.next = "CHOOSE"

    def _expect_identity(self, m: Module, request, offline) -> None:
        """In GRANTED: the identity behind a part. A die that was offline has zeros in its place already."""
        with m.If(is_of_identity(request)):
            with m.If(self._owes_identity & (self._owes == self._die)):
                m.d.sync += self._owes_identity.eq(0)
            with m.Else():
                m.next = "OFFLINE"
        with m.Elif(request.kind.gives_page):
            m.d.sync += [self._owes_identity.eq(request.moves_part & ~offline), self._owes.eq(self._die)]

    def _move_pages(self, m: Module) -> None:
        """The beats of a page, and what the buffers need for it."""
        config = self.config
        beats, loaded_beats = config.bus_page_bytes // 2, config.loaded_page_bytes // 2
        # Cycles of the last beats: during DATA_END, before it while no packet may begin, or no status.
        last = held = end_beats(config)
        last_of_identity = min(_packet_cycles(config), IDENTITY_BEATS - 1)
        held_status = max(config.timing.cycles("tcas") + 4 - _packet_cycles(config), 1)
        held_status = min(held_status, _least_beats(config) // 4)
        m.submodules.counter = counter = BeatCounter(max(beats, loaded_beats))
        die = Signal.like(self._die)
        die_offline = Signal()
        request = self._request
        of_identity, moves_part = Signal(), Signal()  # constant while the page moves
        with m.If(self.fetch.ready):
            m.d.sync += self.fetch.valid.eq(0)

        def stay(cycles: int, state: str) -> None:
            m.d.comb += [counter.port.load.eq(1), counter.port.length.eq(cycles - 1)]
            m.next = state

        def send_parameter(byte) -> None:
            m.d.comb += [
                self.dqs.eq(1), self.parameter.eq(1), self.byte.eq(byte), counter.port.count.eq(1),
                self.hold.eq(1), self.hold_status.eq(1),
            ]  # fmt: skip

        with m.FSM(name="move"):
            with m.State("IDLE"):
                m.d.comb += self._idle.eq(1)
                with m.If(self._prepare):
                    m.d.sync += [self._prepared.eq(1), die.eq(self._die), die_offline.eq(self._die_offline)]
                    m.next = "FILL_TARGET"
                    with m.If(~self._is_out):
                        m.d.sync += self.fetch.valid.eq(request.op != BusOp.SET_READ_LEVEL)
                        m.next = "ARMED"
                    if config.part_bytes:
                        m.d.sync += [
                            of_identity.eq(is_of_identity(request)),
                            moves_part.eq(self._is_out & request.moves_part),
                        ]
                        with m.If(is_of_identity(request)):
                            m.next = "ARMED"
                            with m.If(self._die_offline):
                                m.next = "PAD"
            with m.State("FILL_TARGET"):
                m.d.comb += [self.fill.valid.eq(1), self.receiver.start.eq(1)]
                with m.If(self.fill.ready):
                    m.next = "ARMED"
                    with m.If(die_offline):
                        m.next = "PAD"
            with m.State("ARMED"):
                m.d.comb += self._armed.eq(1)
                with m.If(self._go & self._is_out):
                    stay(beats - held_status - held - last, "DATA_OUT")
                    if config.part_bytes:
                        with m.If(of_identity):
                            stay(IDENTITY_BEATS - last_of_identity, "HELD_OUT")
                        with m.Elif(moves_part):
                            m.d.comb += counter.port.length.eq(
                                part_length(config, request.part) - (held_status + held + last)
                            )
                with m.Elif(self._go):
                    stay(loaded_beats - held_status - held - last, "DATA_IN")
                    with m.If(~self._needs_address):
                        stay(beats - held_status - held - last, "DATA_IN")
                    if config.read_levels:
                        with m.If(request.op == BusOp.SET_READ_LEVEL):
                            stay(FEATURE_PARAMETERS, "PARAMETER")

            if config.read_levels:
                with m.State("PARAMETER"):
                    send_parameter(request.level)
                    m.next = "PARAMETERS"
                with m.State("PARAMETERS"):
                    send_parameter(0)
                    with m.If(counter.port.ended):
                        m.d.comb += [self._ending.eq(1), self.done.eq(self._own(die))]
                        m.next = "IDLE"

            with m.State("DATA_IN"):
                self._take_beat(m, counter)
                with m.If(self.beats_valid & counter.port.ended):
                    stay(held_status, "DATA_IN_NO_STATUS")
            with m.State("DATA_IN_NO_STATUS"):
                self._take_beat(m, counter)
                m.d.comb += self.hold_status.eq(self._next_waits)
                with m.If(self.beats_valid & counter.port.ended):
                    stay(held, "HELD_IN")
            with m.State("HELD_IN"):
                m.d.comb += [self.hold.eq(self._next_waits), self.hold_status.eq(self._next_waits)]
                with m.If(~counter.port.ended | self.last_beats):
                    self._take_beat(m, counter)
                    with m.If(counter.port.ended):
                        m.d.comb += self._ending.eq(1)
                        stay(last, "LAST_IN")
            with m.State("LAST_IN"):
                self._take_beat(m, counter)
                with m.If(counter.port.ended):
                    m.d.comb += self.moved.eq(self._own(die))
                    m.next = "IDLE"

            with m.State("DATA_OUT"):
                self._ask_beat(m, counter)
                with m.If(counter.port.ended):
                    stay(held_status, "DATA_OUT_NO_STATUS")
            with m.State("DATA_OUT_NO_STATUS"):
                self._ask_beat(m, counter)
                m.d.comb += self.hold_status.eq(self._next_waits)
                with m.If(counter.port.ended):
                    stay(held, "HELD_OUT")
            with m.State("HELD_OUT"):
                self._ask_beat(m, counter)
                m.d.comb += [self.hold.eq(self._next_waits), self.hold_status.eq(self._next_waits)]
                with m.If(counter.port.ended):
                    m.d.comb += self._ending.eq(1)
                    stay(last, "LAST_OUT")
                    with m.If(of_identity):
                        stay(last_of_identity, "LAST_OUT")
            with m.State("LAST_OUT"):
                self._ask_beat(m, counter)
                with m.If(counter.port.ended):
                    stay(ANSWER_CYCLES, "DRAIN")
            # The die answers `re` some cycles later and without a gap: the end of DQS is that of the data.
            with m.State("DRAIN"):
                m.d.comb += [self.receiver.receive.eq(1), counter.port.count.eq(1)]
                with m.If(~self.receiver.beat):
                    with m.If(self.receiver.incomplete & of_identity & ~counter.port.ended):
                        m.next = "DRAIN"
                    with m.Elif(self.receiver.incomplete & ~(moves_part & ~of_identity)):
                        m.next = "PAD"
                    with m.Else():
                        m.d.comb += self.done.eq(self._own(die))
                        m.next = "IDLE"
            with m.State("PAD"):
                m.d.comb += self.receiver.pad.eq(1)
                with m.If(~self.receiver.incomplete):
                    m.d.comb += self.done.eq(self._own(die))
                    m.next = "IDLE"

    def _ask_beat(self, m: Module, counter: BeatCounter) -> None:
        m.d.comb += [
            self.re.eq(1),
            self.gives.eq(1),
            self.receiver.receive.eq(1),
            counter.port.count.eq(1),
        ]

    def _take_beat(self, m: Module, counter: BeatCounter) -> None:
        m.d.comb += [
            self.dqs.eq(self.beats_valid),
            self.beats_ready.eq(1),
            self.takes.eq(self.beats_valid),
            counter.port.count.eq(self.beats_valid),
        ]
