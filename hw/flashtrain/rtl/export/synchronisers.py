"""Attributes by which tools know the registers of a synchroniser, and leave them as they are."""

from collections.abc import Mapping
from dataclasses import dataclass

from amaranth import Cat, Module, Signal, Value
from amaranth.lib.cdc import AsyncFFSynchronizer, FFSynchronizer

ATTRIBUTES: Mapping[str, str | int] = {
    "ASYNC_REG": "TRUE",  # Vivado: one slice, no retiming, MTBF reported
    "altera_attribute": "-name SYNCHRONIZER_IDENTIFICATION FORCED",  # Quartus: the same
    "preserve": 1,  # Quartus: not optimised
    "dont_merge": 1,  # Quartus: not merged with an equal register
    "keep": 1,  # Yosys, Vivado
}
"""Of every register of a synchroniser, by name."""


def attribute_text() -> str:
    """The attributes as they stand before a declaration in Verilog."""
    values = (
        f"{name} = {value}" if isinstance(value, int) else f'{name} = "{value}"'
        for name, value in ATTRIBUTES.items()
    )
    return f"(* {', '.join(values)} *)"


@dataclass(frozen=True)
class Synchronisers:
    """Amaranth's platform of an export: makes its synchronisers, with `ATTRIBUTES` on their registers."""

    def get_ff_sync(self, one: FFSynchronizer) -> Module:
        return _chain(one.i, one.o, one._o_domain, one._stages, one._init, one._reset_less)

    def get_async_ff_sync(self, one: AsyncFFSynchronizer) -> Module:
        """Synchronous to the clock in both directions: `AsyncFIFO` has it for its reset, and the crossings
        hold resets for longer than it takes.
        """
        return _chain(one.i if one._edge == "pos" else ~one.i, one.o, one._o_domain, one._stages, 1, True)


def _chain(source: Value, target: Signal, domain: str, count: int, init: int, reset_less: bool) -> Module:
    """The registers are one signal, which is no port of its module: its declaration has the attributes."""
    m = Module()
    width = len(source)
    ones = sum(init << width * number for number in range(count))
    stages = Signal(width * count, init=ones, reset_less=reset_less, attrs=dict(ATTRIBUTES))
    m.d[domain] += stages.eq(Cat(source, stages[:-width]))
    m.d.comb += target.eq(stages[-width:])
    return m


SYNCHRONISERS = Synchronisers()
