# amaranth: UnusedElaboratable=no
"""The front end of PCI Express as a model before the simulated controller, for `device/pcie_host.h`."""

from collections.abc import Iterator
from dataclasses import dataclass

from amaranth import Value
from amaranth.lib import data
from amaranth.lib.wiring import Out

from flashtrain.rtl.lib.shared import leaf_ports
from flashtrain.rtl.pcie.layouts import Access, TlpCompletion, TlpData, TlpRequest
from flashtrain.rtl.pcie.pcie_controller import PcieController
from flashtrain.rtl.pcie.pcie_front_end import PcieFrontEnd
from flashtrain.sim.partition.emit import member
from flashtrain.sim.verilator.verilated import ModelSource, exported_sources
from flashtrain.spec import FmsConfig
from flashtrain.spec.pcie import TlpSizes

TOP = "flashtrain_pcie_front_end"
PREFIX = "Vpcie_front_end"
CONTROLLER = "flash_"
"""Before the names of the controller's pins."""


_MOST_SLOTS, _PLACES = 256, 64 << 20


@dataclass(frozen=True)
class PcieSizes:
    """Parameters of `PcieFrontEnd` and of `PcieController`."""

    queues: int
    entries: int
    slots: int
    most_bytes: int
    tlp: TlpSizes

    @classmethod
    def of(cls, config: FmsConfig, queues: int = 1, entries: int = 1024) -> "PcieSizes":
        """As many slots as the controller has commands, from 64 to 256; the data of all are 64 MiB at most.

        A read of *behemoth* takes some 8 us, and 4 commands for each of its channels keep the buses at work.
        """
        slots = min(max(config.commands, 64), _MOST_SLOTS)
        return cls(queues, entries, slots, _PLACES // slots, TlpSizes.of(config))

    def front_end(self, config: FmsConfig) -> PcieFrontEnd:
        return PcieFrontEnd(config, self.queues, self.entries, self.slots, self.most_bytes, self.tlp)

    def drive(self, config: FmsConfig) -> PcieController:
        return PcieController(config, self.queues, self.entries, self.slots, self.most_bytes, self.tlp)


def model_source(config: FmsConfig, sizes: PcieSizes, optimization: str) -> ModelSource:
    sources = exported_sources(lambda: sizes.front_end(config), TOP, repr((config, sizes)))
    return ModelSource(sources, TOP, PREFIX, optimization=optimization)


def model_header(config: FmsConfig, sizes: PcieSizes) -> Iterator[str]:
    """A class with the pins of the front end, and what crosses between it and the controller."""
    ports = [
        (name, flow, len(Value.cast(value)))
        for name, flow, value in leaf_ports(sizes.front_end(config))
        if len(Value.cast(value)) and name != "completions__ready"
    ]
    yield "// Generated from the ports of the front end of PCI Express."
    yield "#pragma once"
    yield f'#include "{PREFIX}.h"'
    yield '#include "components.h"'
    yield "namespace flashtrain {"
    yield "struct Field { unsigned low, width; };"
    yield f"constexpr unsigned kPortBytes = {sizes.tlp.port_bytes};"
    request, completion = TlpRequest(sizes.tlp), TlpCompletion(sizes.tlp)
    halves = "halves" if "halves" in completion.members else ""
    for name, layout, field in (
        ("RequestWrite", request, "write"),
        ("RequestAddress", request, "address"),
        ("RequestLength", request, "length"),
        ("RequestTag", request, "tag"),
        ("DataRow", TlpData(sizes.tlp), "data"),
        ("CompletionRow", completion, "data"),
        ("CompletionTag", completion, "tag"),
        ("CompletionHalves", completion, halves),
        ("CompletionEnd", completion, "end"),
        ("CompletionFailed", completion, "failed"),
        ("AccessWrite", Access(), "write"),
        ("AccessOffset", Access(), "offset"),
        ("AccessData", Access(), "data"),
    ):
        yield f"constexpr Field k{name}{{{_place(layout, field)}}};"
    yield "class PcieFrontEnd {"
    yield "  public:"
    yield "    void eval() { model_.eval(); }"
    yield "    void edge() { model_.clk = 1; model_.eval(); model_.clk = 0; }"
    yield "    void reset(bool on) { model_.rst = on; model_.eval(); }"
    for name, flow, _ in ports:
        yield f"    const auto& {name}() const {{ return model_.{member(name)}; }}"
        if flow is not Out:
            yield "    template <typename Value>"
            yield f"    void {name}(const Value& value) {{ model_.{member(name)} = value; }}"
    yield "  private:"
    yield "    VerilatedContext context_;"
    yield f"    {PREFIX} model_{{&context_}};"
    yield "};"
    crossing = [port for port in ports if port[0].startswith(CONTROLLER)]
    yield "inline void to_pcie(const FrontEnd& from, PcieFrontEnd& to) {"
    for name, flow, _ in crossing:
        if flow is not Out:
            yield f"    to.{name}(from.{name.removeprefix(CONTROLLER)}());"
    yield "}"
    yield "// The pins that had other values last."
    yield "struct Crossed {"
    for name, flow, width in crossing:
        if flow is Out:
            yield f"    {_kind(width)} {name}{{}};"
    yield "};"
    yield "inline bool from_pcie(const PcieFrontEnd& from, FrontEnd& to, Crossed& last) {"
    yield "    bool changed = false;"
    for name, flow, _ in crossing:
        if flow is Out:
            yield f"    if (carry(last.{name}, from.{name}())) {{"
            yield f"        to.{name.removeprefix(CONTROLLER)}(from.{name}());"
            yield "        changed = true;"
            yield "    }"
    yield "    return changed;"
    yield "}"
    yield "}  // namespace flashtrain"


def _place(layout: data.StructLayout, field: str) -> str:
    """Offset and width of a field; none has no bits."""
    if not field:
        return "0, 0"
    found = layout[field]
    return f"{found.offset}, {found.width}"


def _kind(width: int) -> str:
    """Verilator's type of a port."""
    for most, kind in ((8, "CData"), (16, "SData"), (32, "IData"), (64, "QData")):
        if width <= most:
            return kind
    return f"VlWide<{-(-width // 32)}>"
