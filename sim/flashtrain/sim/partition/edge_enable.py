"""When an edge may change the state of a part: a condition that follows from its netlist."""

from collections.abc import Iterator, Sequence
from typing import Any

from amaranth.hdl import Fragment, Instance, Signal, Value
from amaranth.hdl._ast import Assign, Statement, Switch
from amaranth.hdl._mem import MemoryInstance

from flashtrain.spec.errors import FlashtrainError

EDGE_ENABLE = "edge_enable"


class EdgeEnableError(FlashtrainError, ValueError):
    """The condition of a part cannot be derived; the message names the part and the reason."""


def add_edge_enable(fragment: Fragment, name: str) -> Signal:
    """A new signal that the fragment drives. While it is low, an edge changes no register and no memory.

    It is high under the conditions of each assignment to a register. Where an assignment has none, it is high
    while the register and its next value differ. Ports of memories contribute their enables.

    Raises `EdgeEnableError` if the part has a clock of its own, or an instance.
    """
    enable = Signal(name=EDGE_ENABLE)
    fragment.add_statements("comb", list(_conditions(fragment, enable, name)))
    return enable


def _conditions(fragment: Fragment, enable: Signal, name: str) -> Iterator[Statement]:
    if isinstance(fragment, Instance):
        raise EdgeEnableError(f"{name} has an instance of {fragment.type}, of which nothing is known")
    if isinstance(fragment, MemoryInstance):
        for port in (*fragment._write_ports, *fragment._read_ports):
            if port._domain != "comb":
                yield _asserted_if(port._en.any(), enable)
    for domain, statements in fragment.statements.items():
        if domain == "sync":
            yield from _of_statements(statements, enable, conditional=False)
        elif domain != "comb":
            raise EdgeEnableError(f"{name} has the clock domain {domain!r} beside 'sync'")
    for child, child_name, _where in fragment.subfragments:
        yield from _conditions(child, enable, f"{name}.{child_name}")


def _of_statements(
    statements: Sequence[Statement], enable: Signal, *, conditional: bool
) -> Iterator[Statement]:
    """Statements that assert the enable wherever one of these assigns."""
    for statement in statements:
        if isinstance(statement, Switch):
            cases: Any = [
                (patterns, list(_of_statements(inner, enable, conditional=True)), where)
                for patterns, inner, where in statement.cases
            ]
            yield Switch(statement.test, cases, src_loc=statement.src_loc)
        elif isinstance(statement, Assign):
            yield enable.eq(1) if conditional else _asserted_if(statement.lhs != statement.rhs, enable)


def _asserted_if(condition: Value, enable: Signal) -> Statement:
    asserted: Any = [(("1",), [enable.eq(1)], None)]
    return Switch(condition, asserted)
