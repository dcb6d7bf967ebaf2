"""The pins of an AXI4 manager as the streams of a subordinate."""

from amaranth import Cat, Const, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from .axi import Axi4Signature, ReadPort, WritePort


class AxiStreams(wiring.Component):
    """Joins each channel of the pins to its stream. Bursts are those of the tree: INCR, full width, ID 0.

    A beat of a write without all of its strobes is masked.

    Latency: none. Throughput: all.

    Members
    -------
    pins : In(Axi4Signature)
    read : Out(ReadPort), write : Out(WritePort)
    """

    def __init__(self, *, address_bits: int, data_bits: int):
        sizes = {"address_bits": address_bits, "data_bits": data_bits}
        super().__init__({
            "pins": In(Axi4Signature(**sizes)),
            "read": Out(ReadPort(**sizes)),
            "write": Out(WritePort(**sizes)),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        pins, read, write = self.pins, self.read, self.write
        for kind, burst in (("ar", read.ar), ("aw", write.aw)):
            m.d.comb += [
                burst.valid.eq(getattr(pins, f"{kind}valid")),
                burst.payload.address.eq(getattr(pins, f"{kind}addr")),
                burst.payload.length.eq(getattr(pins, f"{kind}len")),
                getattr(pins, f"{kind}ready").eq(burst.ready),
            ]
        # SLVERR of an error (AXI4, table A3-4).
        m.d.comb += [
            pins.rvalid.eq(read.r.valid),
            pins.rdata.eq(read.r.payload.data),
            pins.rlast.eq(read.r.payload.last),
            pins.rresp.eq(Cat(Const(0, 1), read.r.payload.error)),
            read.r.ready.eq(pins.rready),
            write.w.valid.eq(pins.wvalid),
            write.w.payload.data.eq(pins.wdata),
            write.w.payload.last.eq(pins.wlast),
            write.w.payload.masked.eq(~pins.wstrb.all()),
            pins.wready.eq(write.w.ready),
            pins.bvalid.eq(write.b.valid),
            pins.bresp.eq(Cat(Const(0, 1), write.b.payload.error)),
            write.b.ready.eq(pins.bready),
        ]
        return m
