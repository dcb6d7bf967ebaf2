"""Shorter ways through Amaranth's values and netlists, for what an export does with each value and bit.

Amaranth checks the type of each bit in each value that it makes. It searches the logic before a bit for a
loop at each use of that bit. It computes the shape of an expression at each use, from those of all in it.
It asks for the type of a value by the long way of abstract classes. These functions are written anew here,
with the same results: an export has the same bytes. They save a fifth of its time.

`systemverilog.py` takes them if Amaranth has the version that was read for this.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

from amaranth.back.rtlil import ModuleEmitter
from amaranth.hdl import _ast
from amaranth.hdl._nir import Net, Netlist, Value
from amaranth.lib.data import StructLayout

VERSION = "0.5.10"
"""The version of Amaranth whose ways these are."""

_CONSTANTS = (Net(0), Net(1))
_CELL_BITS = 16
"""Of a net, the lower bits: its place among the outputs of its cell, whose number is above."""


_count_bits = StructLayout.size.fget
_named_cycle = Netlist.check_comb_cycles


def take() -> None:
    """Put the functions of this module in the place of Amaranth's."""
    for expression in _classes(_ast.Value):
        expression.__class__ = _without_registered(type(expression))
    for expression in (_ast.Signal, _ast.Operator, _ast.Slice, _ast.Part, _ast.Concat, _ast.SwitchValue):
        _compute_shape_once(expression)
    _ast.Value.__len__ = _length
    _ast.Slice.__len__ = _slice_length
    _ast.Slice.__init__ = _slice
    StructLayout.size = property(_size)
    Value.__new__ = _value
    Value.__getitem__ = _item
    Net.from_cell = staticmethod(_net_of_cell)
    Netlist.resolve_value = _resolved
    Netlist.check_comb_cycles = _check_cycles
    ModuleEmitter.sigspec = _sigspec


@cache
def _without_registered(kind: type) -> type:
    """That type of classes, for classes of which none is registered as derived."""
    return type(kind.__name__, (kind,), {"__instancecheck__": type.__instancecheck__})


def _classes(of: type) -> Iterable[type]:
    """The class and those derived from it."""
    yield of
    for derived in type.__subclasses__(of):
        yield from _classes(derived)


def _compute_shape_once(expression: type[_ast.Value]) -> None:
    """A value stays as it is made, and so does its shape."""
    compute = expression.shape

    def shape(self: _ast.Value) -> _ast.Shape:
        known = self.__dict__
        if "_counted" not in known:
            known["_counted"] = compute(self)
        return known["_counted"]

    expression.shape = shape


def _length(self: _ast.Value) -> int:
    return self.shape()._width


def _slice_length(self: _ast.Slice) -> int:
    return self._stop - self._start


_checked_slice = _ast.Slice.__init__


def _slice(self: _ast.Slice, value: Any, start: int, stop: int, *, src_loc_at: int = 0) -> None:
    """Of places that are numbers within a value; of others as Amaranth has it."""
    is_plain = start.__class__ is int and stop.__class__ is int and isinstance(value, _ast.Value)
    if not (is_plain and 0 <= start <= stop <= len(value)):
        _checked_slice(self, value, start, stop, src_loc_at=src_loc_at + 1)
        return
    _ast.Value.__init__(self, src_loc_at=src_loc_at)
    self._value, self._start, self._stop = value, start, stop


def _size(self: StructLayout) -> int:
    """Bits of a layout, whose fields stay as they are: counted once."""
    known = self.__dict__
    if "_counted" not in known:
        known["_counted"] = _count_bits(self)
    return known["_counted"]


def _value(cls: type[Value], nets: Net | Iterable[Net] = ()) -> Value:
    return tuple.__new__(cls, (nets,) if nets.__class__ is Net else nets)


def _item(self: Value, index: int | slice) -> Any:
    found = tuple.__getitem__(self, index)
    return tuple.__new__(Value, found) if index.__class__ is slice else found


def _net_of_cell(cell: int, bit: int) -> Net:
    return int.__new__(Net, cell << _CELL_BITS | bit)


def _resolved(self: Netlist, value: Value) -> Value:
    connections, found = self.connections, []
    for net in value:
        while net < 0:
            net = connections[net]
        found.append(net)
    return tuple.__new__(Value, found)


def _check_cycles(self: Netlist) -> None:
    """Look once at each bit for a cycle; Amaranth's own function then names the signals of one."""
    cells, connections = self.cells, self.connections
    done, busy = set(_CONSTANTS), set()

    def is_acyclic(net: Net) -> bool:
        busy.add(net)
        if net < 0:
            sources = [connections[net]]
        else:
            sources = [source for source, _ in cells[net >> _CELL_BITS].comb_edges_to(net & 0xFFFF)]
        for source in sources:
            if source not in done and (source in busy or not is_acyclic(source)):
                return False
        done.add(net)
        return True

    outputs = (net for number, cell in enumerate(cells) for net in cell.output_nets(number))
    signals = (net for value in self.signals.values() for net in value)
    if not all(net in done or is_acyclic(net) for nets in (outputs, signals) for net in nets):
        _named_cycle(self)


def _sigspec(self: Any, *parts: Net | Iterable[Net]) -> str:
    """Bits as RTLIL has them: runs of constants, and slices of wires."""
    value: list[Net] = []
    for part in parts:
        value.extend((part,) if part.__class__ is Net else part)
    chunks, nets, begin = [], self.nets, 0
    while begin < len(value):
        end = begin + 1
        if value[begin] in _CONSTANTS:
            while end < len(value) and value[end] in _CONSTANTS:
                end += 1
            bits = "".join("1" if net else "0" for net in reversed(value[begin:end]))
            chunks.append(f"{end - begin}'{bits}")
        else:
            wire, low = nets[value[begin]]
            while end < len(value) and nets.get(value[end]) == (wire, low + end - begin):
                end += 1
            high = low + end - begin - 1
            chunks.append(f"{wire.name} [{low}]" if high == low else f"{wire.name} [{high}:{low}]")
        begin = end
    return chunks[0] if len(chunks) == 1 else f"{{ {' '.join(reversed(chunks))} }}"
