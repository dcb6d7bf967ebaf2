"""Read multiplexer: several readers on one AXI read port."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.lib.axi import ReadPort
from flashtrain.rtl.lib.streams import Queue, StreamMerge
from flashtrain.spec.geometry import bits_for


class ReadMux(wiring.Component):
    """Passes bursts of `count` readers, in turn, and gives each its beats.

    Beats come in the order of the bursts, so a reader that does not take its beats holds up the others.

    Latency: 1 cycle of a burst, none of a beat. Throughput: a burst and a beat per cycle; up to `outstanding`
    bursts.

    Members
    -------
    readers : In(ReadPort).array(count)
    axi : Out(ReadPort)
    """

    def __init__(self, count: int, *, address_bits: int, data_bits: int, outstanding: int = 32):
        self.count = count
        self.outstanding = outstanding
        port = ReadPort(address_bits=address_bits, data_bits=data_bits)
        super().__init__({"readers": In(port).array(count), "axi": Out(port)})

    def elaborate(self, platform):
        m = Module()
        burst, beat = self.axi.ar, self.axi.r
        m.submodules.merge = merge = StreamMerge(burst.payload.shape(), self.count)
        m.submodules.owners = owners = Queue(bits_for(self.count), self.outstanding)
        takes = [reader.ar.valid & reader.ar.ready for reader in self.readers]
        free, owner = Signal(), owners.output.payload
        # A burst that is taken has a place among the owners, so none waits for one in the merge.
        m.d.comb += [
            free.eq(owners.input.ready),
            owners.input.valid.eq(0),
            burst.valid.eq(merge.output.valid),
            burst.payload.eq(merge.output.payload),
            merge.output.ready.eq(burst.ready),
            owners.output.ready.eq(beat.valid & beat.ready & beat.payload.last),
        ]
        for number, reader in enumerate(self.readers):
            m.d.comb += [
                merge.inputs[number].valid.eq(reader.ar.valid & free),
                merge.inputs[number].payload.eq(reader.ar.payload),
                reader.ar.ready.eq(merge.inputs[number].ready & free),
                reader.r.payload.eq(beat.payload),
            ]
            with m.If(takes[number]):
                m.d.comb += [owners.input.valid.eq(1), owners.input.payload.eq(number)]
            with m.If(owners.output.valid & (owner == number)):
                m.d.comb += [reader.r.valid.eq(beat.valid), beat.ready.eq(reader.r.ready)]
        return m
