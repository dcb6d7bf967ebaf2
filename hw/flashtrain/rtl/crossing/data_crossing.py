"""Page data between the front end's clock and the channels'."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.fifo import AsyncFIFO
from amaranth.lib.wiring import In, Out

from flashtrain.spec import FmsConfig

from .channel_crossing import CHANNELS, FRONT


class DataCrossing(wiring.Component):
    """Carries page data of all channels in both directions, with one FIFO for each.

    Page data are as wide as all channels together, so a FIFO for each channel would cost as many times as
    much. Write data keep their order, and engines take them at once. Read data come in the order in which
    the front end has accepted the heads; a third FIFO carries that order to the channels' side.

    The FIFOs' pointers cross in Gray code through two registers. Each has its reset from its writing side.

    - Latency of write data: 1 edge of `front` and 4 of `channels`. Latency of read data: 1 edge of `channels`
      and 3 of `front`. A metastable register adds an edge.
    - Throughput: one beat per cycle of the slower clock in each direction, at every ratio.
    - Cost: a memory of 16 beats and one of 8, each with an output register.

    Members
    -------
    In domain `front`:

    data : In, data_valid : In(C)    write data, and the channel that takes them
    data_room : Out(1)               a beat may be sent 2 cycles later
    empty : Out(1)                   the channels have all write data but those of 2 cycles
    read_next : In(C)                pulse: a head of this channel is accepted, while `read_room` is high
    read_room : Out(1)
    read_data : Out, read_valid : Out(1), read_ready : In(1)   the beats of accepted heads, in their order

    In domain `channels`:

    engine_data : Out, engine_data_valid : Out(C)
    engine_read_data : In            of the channel with `engine_read_chosen`
    engine_read_valid : In(C), engine_read_ready : Out(C), engine_read_chosen : Out(C)
    """

    WRITE_DEPTH = 16  # ten edges there and back, and three beats after `data_room` has fallen
    READ_DEPTH = 8  # six edges there and back

    def __init__(self, config: FmsConfig):
        self.config = config
        channels, bits = config.geometry.channels, 8 * config.data_bytes
        super().__init__({
            "data": In(bits),
            "data_valid": In(channels),
            "data_room": Out(1),
            "empty": Out(1),
            "read_next": In(channels),
            "read_room": Out(1),
            "read_data": Out(bits),
            "read_valid": Out(1),
            "read_ready": In(1),
            "engine_data": Out(bits),
            "engine_data_valid": Out(channels),
            "engine_read_data": In(bits),
            "engine_read_valid": In(channels),
            "engine_read_ready": Out(channels),
            "engine_read_chosen": Out(channels),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        self._write(m)
        self._read(m)
        return m

    def _write(self, m: Module) -> None:
        bits, channels = len(self.data), len(self.data_valid)
        m.submodules.write = fifo = AsyncFIFO(
            width=bits + channels, depth=self.WRITE_DEPTH, w_domain=FRONT, r_domain=CHANNELS
        )
        m.d.comb += [
            fifo.w_data.eq(Cat(self.data, self.data_valid)),
            fifo.w_en.eq(self.data_valid.any()),
            # The level is that of a cycle before, and another beat is under way.
            self.data_room.eq(fifo.w_level <= self.WRITE_DEPTH - 3),
            self.empty.eq(fifo.w_level == 0),
            fifo.r_en.eq(1),
        ]
        m.d.channels += [
            self.engine_data.eq(fifo.r_data[:bits]),
            self.engine_data_valid.eq(fifo.r_data[bits:] & fifo.r_rdy.replicate(channels)),
        ]

    def _read(self, m: Module) -> None:
        bits, channels = len(self.read_data), len(self.read_next)
        m.submodules.order = order = AsyncFIFO(
            width=channels, depth=self.READ_DEPTH, w_domain=FRONT, r_domain=CHANNELS
        )
        m.submodules.read = fifo = AsyncFIFO(
            width=bits, depth=self.READ_DEPTH, w_domain=CHANNELS, r_domain=FRONT
        )
        beats, moves = Signal(range(self.config.page_beats)), Signal()
        chosen = self.engine_read_chosen
        m.d.comb += [
            order.w_data.eq(self.read_next),
            order.w_en.eq(self.read_next.any()),
            self.read_room.eq(order.w_rdy),
            chosen.eq(order.r_data & order.r_rdy.replicate(channels)),
            self.engine_read_ready.eq(chosen & fifo.w_rdy.replicate(channels)),
            fifo.w_data.eq(self.engine_read_data),
            fifo.w_en.eq((self.engine_read_valid & chosen).any()),
            moves.eq(fifo.w_en & fifo.w_rdy),
            order.r_en.eq(moves & (beats == self.config.page_beats - 1)),
            self.read_data.eq(fifo.r_data),
            self.read_valid.eq(fifo.r_rdy),
            fifo.r_en.eq(self.read_ready),
        ]
        with m.If(moves):
            m.d.channels += beats.eq(beats + 1)
