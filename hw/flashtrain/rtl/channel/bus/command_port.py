"""The command port of a channel: asynchronous cycles that firmware sends to the chips."""

from amaranth import Const, Module, Mux, Signal
from amaranth.lib import stream, wiring
from amaranth.lib.cdc import FFSynchronizer
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.layouts import PortCycle
from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import CycleKind
from flashtrain.spec.sdr import SdrCycles

from .bus_cycles import BeatCounter, PortPins


class CommandPort(wiring.Component):
    """Performs cycles of firmware on the pins, one at a time, while the bus controller is paused.

    A cycle has WE_n or RE_n low, then high, for the times of its mode (`SdrCycles`); all other pins stand
    still. `turn` passes before a cycle of another kind than the one before, after a command, and at each
    change of a chip enable. Every state but the answer ends by itself, so no cycle takes longer than its
    bound.

    A chip shows that it is busy up to tWB behind a cycle, so a LOOK waits for `turn`, too. With R/B# a bit
    for each die notes a low level, until a WAS_BUSY has read it.

    Latency, in cycles from acceptance to the answer: WAS_BUSY 2; LOOK 2, and `turn` more behind an address or
    data;
    others 3 + low + high. `turn` is added for a command, for a first die, and for another kind than before
    unless that was a command. A change of the die adds it twice.
    Throughput: a cycle at a time, one clock between an answer and the next acceptance.
    Cost: a counter, a table of 4 times for each mode, some 30 registers.

    Members
    -------
    cycles : In(stream(PortCycle))   taken while `granted`
    answers : Out(stream(8))         the end of each; what a DATA_OUT, LOOK or WAS_BUSY has read
    pause : In(1)      the bus is to be paused; at its end chip enables go high
    granted : In(1)    the bus controller is paused, until `released` without `pause`
    released : Out(1)  no cycle is under way, and no die selected since `turn`
    pins : Out(PortPins)
    dq_i, rb_n : In(8), In(dies)   pins; a die is a chip enable here, whatever LUNs are behind it
    """

    def __init__(self, config: FmsConfig):
        self.config = config
        dies = config.chip_enables
        super().__init__({
            "cycles": In(stream.Signature(PortCycle(config))),
            "answers": Out(stream.Signature(8)),
            "pause": In(1),
            "granted": In(1),
            "released": Out(1),
            "pins": Out(PortPins(dies)),
            "dq_i": In(8),
            "rb_n": In(dies),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        modes, pins = self.config.port_modes, self.pins
        longest = max(max(mode) for mode in modes)
        m.submodules.counter = counter = BeatCounter(longest)
        ready = Signal.like(self.rb_n)
        m.submodules.ready = FFSynchronizer(self.rb_n, ready)

        cycle = Signal(PortCycle(self.config))
        last = Signal.like(cycle.kind)  # of the cycle before, by the selected die
        reads, commands = cycle.kind == CycleKind.DATA_OUT, cycle.kind == CycleKind.COMMAND
        looks = cycle.kind == CycleKind.LOOK
        settled = ~pins.selected | (last == CycleKind.COMMAND) | (last == CycleKind.LOOK)  # since tWB
        low, high = Signal(range(longest)), Signal(range(longest))  # less one
        self._choose_times(m, modes, cycle, reads, low, high)

        def stay(cycles: int, state: str) -> None:
            m.d.comb += [counter.port.load.eq(1), counter.port.length.eq(cycles - 1)]
            m.next = state

        noted, asks = Signal.like(ready), Const(0)  # dies that have been busy; a cycle that reads them
        if self.config.chips.ready_busy:
            asks = cycle.kind == CycleKind.WAS_BUSY
            m.d.sync += noted.eq(noted | ~ready)
        turn = max(mode.turn for mode in modes)
        m.d.comb += [
            counter.port.count.eq(1),
            pins.active.eq(self.granted),
            pins.byte.eq(cycle.byte),
        ]
        with m.FSM(name="command_port"):
            with m.State("IDLE"):
                m.d.comb += [
                    self.cycles.ready.eq(self.granted),
                    self.released.eq(~pins.selected & ~self.cycles.valid),
                ]
                with m.If(self.cycles.valid & self.granted):
                    m.d.sync += cycle.eq(self.cycles.payload)
                    m.next = "CHOOSE"
                with m.Elif(pins.selected & ~self.pause):
                    m.d.sync += pins.selected.eq(0)
                    stay(turn, "RELEASE")
            with m.State("CHOOSE"):
                same_die = pins.selected & (pins.die == cycle.die)
                with m.If(asks):
                    m.d.sync += [self.answers.payload.eq(noted), noted.eq(~ready)]
                    m.next = "ANSWER"
                with m.Elif(looks & settled):
                    m.d.sync += self.answers.payload.eq(ready)
                    m.next = "ANSWER"
                with m.Elif(looks):
                    m.d.sync += last.eq(CycleKind.LOOK)
                    stay(turn, "SHOW")
                with m.Elif(same_die & ((cycle.kind == last) | (last == CycleKind.COMMAND))):
                    m.next = "BEGIN"
                with m.Elif(same_die):
                    stay(turn, "TURN")
                with m.Elif(pins.selected):
                    m.d.sync += pins.selected.eq(0)
                    stay(turn, "DESELECT")
                with m.Else():
                    m.d.sync += [pins.selected.eq(1), pins.die.eq(cycle.die)]
                    stay(turn, "TURN")
            with m.State("SHOW"):
                with m.If(counter.port.ended):
                    m.d.sync += self.answers.payload.eq(ready)
                    m.next = "ANSWER"
            with m.State("DESELECT"):
                with m.If(counter.port.ended):
                    m.d.sync += [pins.selected.eq(1), pins.die.eq(cycle.die)]
                    stay(turn, "TURN")
            with m.State("TURN"):
                with m.If(counter.port.ended):
                    m.next = "BEGIN"
            with m.State("BEGIN"):
                m.d.comb += [counter.port.load.eq(1), counter.port.length.eq(low)]
                m.next = "LOW"
            with m.State("LOW"):
                m.d.comb += [pins.we.eq(~reads), pins.re.eq(reads)]
                self._drive(m, cycle, reads)
                with m.If(counter.port.ended):
                    m.d.sync += self.answers.payload.eq(self.dq_i)
                    m.d.comb += [counter.port.load.eq(1), counter.port.length.eq(high)]
                    m.next = "HIGH"
            with m.State("HIGH"):
                self._drive(m, cycle, reads)
                with m.If(counter.port.ended):
                    m.d.sync += last.eq(cycle.kind)
                    m.next = "ANSWER"
                    with m.If(commands):
                        stay(turn, "SETTLE")
            with m.State("SETTLE"):
                with m.If(counter.port.ended):
                    m.next = "ANSWER"
            with m.State("ANSWER"):
                m.d.comb += self.answers.valid.eq(1)
                with m.If(self.answers.ready):
                    m.next = "IDLE"
            with m.State("RELEASE"):
                with m.If(counter.port.ended):
                    m.next = "IDLE"
        return m

    def _choose_times(
        self, m: Module, modes: list[SdrCycles], cycle, reads, low: Signal, high: Signal
    ) -> None:
        """The times of a cycle in its mode, a clock after it was taken."""
        with m.Switch(cycle.mode):
            for number, mode in enumerate(modes):
                with m.Case(number):
                    m.d.sync += [
                        low.eq(Mux(reads, mode.read_low, mode.write_low) - 1),
                        high.eq(Mux(reads, mode.read_high, mode.write_high) - 1),
                    ]

    def _drive(self, m: Module, cycle, reads) -> None:
        m.d.comb += [
            self.pins.cle.eq(cycle.kind == CycleKind.COMMAND),
            self.pins.ale.eq(cycle.kind == CycleKind.ADDRESS),
            self.pins.drive.eq(~reads),
        ]
