"""AXI4 and AXI4-Lite: the flat pins of the controller, and the streams that its parts use inside.

Inside the controller each AXI channel is a stream. Bursts are INCR, of full width, and never cross 4 KiB; one
ID, so answers come in order.
"""

from amaranth.lib import data, stream, wiring
from amaranth.lib.wiring import In, Out


class Axi4Signature(wiring.Signature):
    """Pins of an AXI4 manager. Names are the standard's, so that any AXI model attaches by prefix."""

    def __init__(self, *, address_bits: int, data_bits: int):
        self.address_bits = address_bits
        self.data_bits = data_bits
        members = {}
        for channel in ("aw", "ar"):
            members |= {
                f"{channel}id": Out(1),
                f"{channel}addr": Out(address_bits),
                f"{channel}len": Out(8),
                f"{channel}size": Out(3),
                f"{channel}burst": Out(2),
                f"{channel}valid": Out(1),
                f"{channel}ready": In(1),
            }
        members |= {
            "wdata": Out(data_bits), "wstrb": Out(data_bits // 8), "wlast": Out(1),
            "wvalid": Out(1), "wready": In(1),
            "bid": In(1), "bresp": In(2), "bvalid": In(1), "bready": Out(1),
            "rid": In(1), "rdata": In(data_bits), "rresp": In(2), "rlast": In(1),
            "rvalid": In(1), "rready": Out(1),
        }  # fmt: skip
        super().__init__(members)


class Axi4LiteSignature(wiring.Signature):
    """Pins of an AXI4-Lite manager with 32-bit data (a subordinate has the flipped signature)."""

    def __init__(self, *, address_bits: int):
        self.address_bits = address_bits
        super().__init__({
            "awaddr": Out(address_bits), "awprot": Out(3), "awvalid": Out(1), "awready": In(1),
            "wdata": Out(32), "wstrb": Out(4), "wvalid": Out(1), "wready": In(1),
            "bresp": In(2), "bvalid": In(1), "bready": Out(1),
            "araddr": Out(address_bits), "arprot": Out(3), "arvalid": Out(1), "arready": In(1),
            "rdata": In(32), "rresp": In(2), "rvalid": In(1), "rready": Out(1),
        })  # fmt: skip


def burst_layout(address_bits: int) -> data.StructLayout:
    """A burst: address of its first byte, and beats - 1."""
    return data.StructLayout({"address": address_bits, "length": 8})


def read_beat_layout(data_bits: int) -> data.StructLayout:
    return data.StructLayout({"data": data_bits, "last": 1, "error": 1})


def write_beat_layout(data_bits: int, parts: int = 1) -> data.StructLayout:
    """`masked`, a bit for each of the beat's equal parts: its bytes are not written."""
    return data.StructLayout({"data": data_bits, "last": 1, "masked": parts})


class ReadPort(wiring.Signature):
    """Reading side of an AXI manager, as streams: bursts out, beats in."""

    def __init__(self, *, address_bits: int, data_bits: int):
        super().__init__({
            "ar": Out(stream.Signature(burst_layout(address_bits))),
            "r": In(stream.Signature(read_beat_layout(data_bits))),
        })  # fmt: skip


class WritePort(wiring.Signature):
    """Writing side of an AXI manager, as streams: bursts and beats out, one answer per burst in."""

    def __init__(self, *, address_bits: int, data_bits: int, parts: int = 1):
        super().__init__({
            "aw": Out(stream.Signature(burst_layout(address_bits))),
            "w": Out(stream.Signature(write_beat_layout(data_bits, parts))),
            "b": In(stream.Signature(data.StructLayout({"error": 1}))),
        })  # fmt: skip
