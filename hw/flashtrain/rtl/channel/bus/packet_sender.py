"""Packets of SCA on the pins of a bus of commands."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.nand_bus import ScaBus
from flashtrain.spec import NandTiming
from flashtrain.spec.geometry import bits_for
from flashtrain.spec.sca import PACKET_CYCLES, STATUS_CYCLES, Header

from .bus_cycles import ANSWER_CYCLES, FAILED, BeatCounter

_STATUS_PAIRS = 4

CA_PINS = ("ca_ce_n", "ca_clk", "ca_o", "ca_oe")


class Packet(data.StructLayout):
    """A packet to a die; its header is a `Header`. A byte is that of a command or an address."""

    def __init__(self, dies: int):
        super().__init__({"die": bits_for(dies), "header": 4, "byte": 8})


class PacketSender(wiring.Component):
    """Sends packets one after the other, and takes the status behind a STATUS.

    A packet around data goes first, as soon as the packet before has ended. CA_CE_n stays low between packets
    to one die, and rises behind a status. If no status comes it reads busy.

    Latency: 2 cycles from a packet to its first bits on the pins; `tca` more until the last of them.
    Throughput: a packet in `tca`; a STATUS takes `tcas`, and 2 cycles.

    Members
    -------
    commands : In(stream(Packet))
    bursts : In(stream(Packet))   the packets around data
    hold, hold_status : In(1)   no packet of `commands` begins; no STATUS, which takes longer
    ended : Out(1)     pulse: the last packet of `commands` ends with this cycle, with its status
    offline : In(1)    the status is that of a die that is offline
    status : Out(8)    the latest
    ca_ce_n, ca_clk, ca_o, ca_oe, ca_valid, ca_i : pins of `ScaBus`
    """

    def __init__(self, timing: NandTiming, dies: int):
        self.timing = timing
        self.dies = dies
        pins = ScaBus(dies).members
        super().__init__({
            "commands": In(stream.Signature(Packet(dies))),
            "bursts": In(stream.Signature(Packet(dies))),
            "hold": In(1),
            "hold_status": In(1),
            "ended": Out(1),
            "offline": In(1),
            "status": Out(8),
            **{name: pins[name] for name in (*CA_PINS, "ca_valid", "ca_i")},
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        tca, tcas = (self.timing.cycles(name) for name in ("tca", "tcas"))
        cycle = max(1, tca // PACKET_CYCLES)  # of CA_CLK
        last_cycle = max(1, tca - (PACKET_CYCLES - 1) * cycle)
        rest = max(1, tcas - STATUS_CYCLES * cycle)  # behind a status
        m.submodules.counter = counter = BeatCounter(max(last_cycle, rest, ANSWER_CYCLES))
        packet = Signal(Packet(self.dies))
        of_commands = Signal()
        bits = Signal(12)  # still to be sent, those of this cycle lowest
        number = Signal(range(STATUS_CYCLES))
        answer, pairs = Signal(8), Signal(range(_STATUS_PAIRS + 1))

        selected, clock, drives = Signal(), Signal(), Signal()
        m.d.sync += [
            self.ca_ce_n.eq(Cat(~(selected & (packet.die == n)) for n in range(self.dies))),
            self.ca_clk.eq(clock),
            self.ca_o.eq(Mux(drives, bits[:4], 0)),
            self.ca_oe.eq(drives),
        ]

        def stay(cycles: int, state: str) -> None:
            m.d.comb += [counter.port.load.eq(1), counter.port.length.eq(cycles - 1)]
            m.next = state

        def begin(source: stream.Interface, *, commands: bool) -> None:
            item = source.payload
            m.d.comb += source.ready.eq(1)
            m.d.sync += [
                packet.eq(item),
                of_commands.eq(commands),
                bits.eq(Cat(item.header, item.byte)),
                number.eq(0),
                pairs.eq(0),
            ]
            stay(cycle, "PACKET")

        held = self.hold | (self.hold_status & (self.commands.payload.header == Header.STATUS))

        def begin_next() -> None:
            with m.If(self.bursts.valid):
                begin(self.bursts, commands=False)
            with m.Elif(self.commands.valid & ~held):
                begin(self.commands, commands=True)

        m.d.comb += counter.port.count.eq(1)
        with m.FSM(name="packet"):
            with m.State("IDLE"):
                begin_next()
            with m.State("PACKET"):
                m.d.comb += [selected.eq(1), drives.eq(1), clock.eq(counter.port.ended)]
                with m.If(counter.port.ended):
                    m.d.sync += [bits.eq(bits[4:]), number.eq(number + 1)]
                    stay(cycle, "PACKET")
                    with m.If(packet.header == Header.STATUS):
                        m.next = "ANSWER"
                    with m.Elif(number == PACKET_CYCLES - 2):
                        stay(last_cycle, "PACKET")
                    with m.Elif(number == PACKET_CYCLES - 1):
                        m.d.comb += self.ended.eq(of_commands)
                        m.next = "IDLE"
                        begin_next()
            with m.State("ANSWER"):
                m.d.comb += [selected.eq(1), clock.eq(counter.port.ended)]
                with m.If(counter.port.ended):
                    m.d.sync += number.eq(number + 1)
                    stay(cycle, "ANSWER")
                    with m.If(number == STATUS_CYCLES - 1):
                        stay(rest, "REST")
            with m.State("REST"):
                m.d.comb += selected.eq(1)
                with m.If(counter.port.ended):
                    stay(ANSWER_CYCLES, "END")
            with m.State("END"):
                m.d.comb += selected.eq(1)
                complete = pairs == _STATUS_PAIRS
                with m.If(complete | counter.port.ended):
                    m.d.comb += self.ended.eq(1)
                    m.d.sync += self.status.eq(Mux(complete, answer, 0))
                    m.next = "IDLE"

        with m.If(self.ca_valid & (pairs != _STATUS_PAIRS)):
            m.d.sync += [answer.eq(Cat(answer[2:], self.ca_i)), pairs.eq(pairs + 1)]
        with m.If(self.offline):
            m.d.sync += self.status.eq(FAILED)
        return m
