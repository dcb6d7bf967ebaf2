"""One Verilog module for many instances.

Amaranth writes a module per instance, so 64 equal channels would be 64 texts to lint and to compile. Wrap the
component instead:

    channel = Channel(config)
    for index in range(config.geometry.channels):
        m.submodules[f"channel{index}"] = engine = SharedModule(channel, "channel")
        connect(m, engine.pins, flipped(self.pins[index]))

The component is built and elaborated once, and is written as module `channel`; each wrapper has the
component's own signature and becomes an instance of that module. `flashtrain.rtl.export.systemverilog`
finds the wrappers in the elaborated design, also inside one another.
"""

from collections.abc import Iterator

from amaranth import ClockSignal, Const, Instance, ResetSignal, Signal, Value
from amaranth.lib import wiring

from flashtrain.spec.errors import FlashtrainError


class ExportError(FlashtrainError, ValueError):
    """The design cannot be written as Verilog; the message names the module."""


def leaf_ports(component: wiring.Component) -> Iterator[tuple[str, wiring.Flow, Value]]:
    """The ports of a component as Amaranth names them in Verilog, as (name, flow, value).

    Members of interfaces and elements of arrays are joined with `__`. Ports of no width do not exist in
    Verilog and are left out, as is the constant `ready` of a stream that is always ready.
    """
    seen = {"clk", "rst"}
    for path, member, value in component.signature.flatten(component):
        name = "__".join(map(str, path))
        if name in seen:
            raise ExportError(f"{type(component).__name__} has two ports that are called {name!r} in Verilog")
        seen.add(name)
        if len(Value.cast(value)) and not isinstance(value, Const):
            yield name, member.flow, Value.cast(value)


class SharedModule(wiring.Component):
    """An instance of a module that is written once.

    Parameters
    ----------
    component
        What the module holds. Give the same object to every instance; it uses no domain but `sync`.
    name
        Name of the module, unique in the design.
    reset
        Reset of this instance; the reset of domain `sync` if not given.

    Members are those of `component.signature`.
    """

    def __init__(self, component: wiring.Component, name: str, reset: Signal | None = None):
        self.component = component
        self.module_name = name
        self.reset = reset
        super().__init__(component.signature)

    def elaborate(self, platform):
        ports = [("i" if flow == wiring.In else "o", name, value) for name, flow, value in leaf_ports(self)]
        reset = ResetSignal("sync") if self.reset is None else self.reset
        return Instance(self.module_name, ("i", "clk", ClockSignal("sync")), ("i", "rst", reset), *ports)
