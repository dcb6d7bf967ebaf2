"""An AXI port between two clock domains."""

from amaranth import Cat, Module
from amaranth.hdl import Shape
from amaranth.lib import wiring
from amaranth.lib.fifo import AsyncFIFO
from amaranth.lib.wiring import In, Out

from .axi import Axi4LiteSignature, Axi4Signature

DOMAINS = ("manager", "subordinate")
CHANNELS = ("aw", "w", "b", "ar", "r")


class AxiCrossing(wiring.Component):
    """Carries the five channels of AXI4 or AXI4-Lite from a manager to a subordinate in another clock domain.

    Each channel has a FIFO whose pointers cross in Gray code through two registers. The frequencies need no
    relation. The manager's side has domain `manager`, the other one `subordinate`.

    Both resets must be asserted at the same time for three cycles of the slower clock, and may end at
    different times. Transfers that are under way are lost.

    - Latency: a transfer is at the other side at the third rising edge of its clock behind that of the
      transfer. A metastable first register makes it the fourth.
    - Throughput: one transfer per cycle of the slower clock, on each channel and at every ratio. The pointers
      take six edges for there and back, and the FIFOs have 8 entries.
    - Cost: per channel a memory of 8 words with an output register, and 32 registers for the pointers; two
      registers per direction for the reset.

    Parameters
    ----------
    signature
        Of the port, as the manager sees it.

    Members
    -------
    manager : In(signature)       the pins of the manager
    subordinate : Out(signature)  the same towards the subordinate
    """

    DEPTH = 8

    def __init__(self, signature: Axi4Signature | Axi4LiteSignature):
        self.port = signature
        super().__init__({"manager": In(signature), "subordinate": Out(signature)})

    def elaborate(self, platform):
        m = Module()
        for channel in CHANNELS:
            # Requests come from the manager, answers from the subordinate.
            forward = self.port.members[f"{channel}valid"].flow is Out
            source, target = (self.manager, self.subordinate) if forward else (self.subordinate, self.manager)
            domains = DOMAINS if forward else DOMAINS[::-1]
            names = payload(self.port, channel)
            width = sum(Shape.cast(self.port.members[name].shape).width for name in names)
            m.submodules[channel] = fifo = AsyncFIFO(
                width=width, depth=self.DEPTH, w_domain=domains[0], r_domain=domains[1]
            )
            valid, ready = f"{channel}valid", f"{channel}ready"
            m.d.comb += [
                fifo.w_data.eq(Cat(getattr(source, name) for name in names)),
                fifo.w_en.eq(getattr(source, valid)),
                getattr(source, ready).eq(fifo.w_rdy),
                Cat(getattr(target, name) for name in names).eq(fifo.r_data),
                getattr(target, valid).eq(fifo.r_rdy),
                fifo.r_en.eq(getattr(target, ready)),
            ]
        return m


def payload(signature: Axi4Signature | Axi4LiteSignature, channel: str) -> list[str]:
    """The pins of a channel but for its handshake, in the order of the signature."""
    first = "wdata" if channel == "w" else None
    names = [name for name in signature.members if name.startswith(channel) and name != first]
    names = [first, *names] if first else names
    return [name for name in names if name not in (f"{channel}valid", f"{channel}ready")]
