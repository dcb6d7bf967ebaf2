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

from collections.abc import Iterator, Mapping
from types import MappingProxyType

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
    seen = set(clock_ports("sync"))
    for path, member, value in component.signature.flatten(component):
        name = "__".join(map(str, path))
        if name in seen:
            raise ExportError(f"{type(component).__name__} has two ports that are called {name!r} in Verilog")
        seen.add(name)
        if len(Value.cast(value)) and not isinstance(value, Const):
            yield name, member.flow, Value.cast(value)


def clock_ports(domain: str) -> tuple[str, str]:
    """Names of a domain's clock and reset in Verilog: `clk` and `rst` of `sync`, else after the domain."""
    prefix = "" if domain == "sync" else f"{domain}_"
    return f"{prefix}clk", f"{prefix}rst"


class SharedModule(wiring.Component):
    """An instance of a module that is written once.

    Parameters
    ----------
    component
        What the module holds. Give the same object to every instance.
    name
        Name of the module, unique in the design.
    reset
        Reset of this instance in domain `sync`; that of the domain around it if not given.
    domains
        The domain around the instance for each that the component uses; both `sync` if not given.

    Members are those of `component.signature`.
    """

    def __init__(
        self,
        component: wiring.Component,
        name: str,
        reset: Signal | None = None,
        domains: Mapping[str, str] = MappingProxyType({"sync": "sync"}),
    ):
        self.component = component
        self.module_name = name
        self.reset = reset
        self.domains = domains
        super().__init__(component.signature)

    def elaborate(self, platform):
        ports = [("i" if flow == wiring.In else "o", name, value) for name, flow, value in leaf_ports(self)]
        clocks = []
        for inside, outside in self.domains.items():
            clock, reset = clock_ports(inside)
            given = self.reset is not None and inside == "sync"
            clocks += [
                ("i", clock, ClockSignal(outside)),
                ("i", reset, self.reset if given else ResetSignal(outside)),
            ]
        return Instance(self.module_name, *clocks, *ports)
