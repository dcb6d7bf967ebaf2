"""The simulated system as a shared library, for the RTL Link.

Front end, channel and die are compiled once each. One channel's code serves all channels: a system of 64
takes little longer to compile than one of 4. All three are cut into parts; an idle part costs nothing
(docs/simulation.md). `system.h` carries values between front end, channels and dies once per cycle, with
functions generated here.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from amaranth import Value
from amaranth.hdl import Shape
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from flashtrain.native.build_cache import content_key
from flashtrain.native.compiler import compiler_version, cxx_compiler
from flashtrain.native.user_cache import UserCache, about, user_cache
from flashtrain.reading import read_json
from flashtrain.rtl.channel.interface import ChannelInterface
from flashtrain.rtl.export.tools import tool_versions
from flashtrain.rtl.front_end import FrontEnd
from flashtrain.sim import partition
from flashtrain.sim.link.channel_unit import ChannelUnit
from flashtrain.sim.link.pcie_model import TOP, PcieSizes, model_header, model_source
from flashtrain.sim.link.pins import pins_of_channel, pins_of_front_end
from flashtrain.sim.link.seams import seam_functions
from flashtrain.sim.nand import VERILATOR_SOURCES, DieUnit, pins_of_dies
from flashtrain.sim.nand.sdr_bridge import dies_bus
from flashtrain.sim.partition.emit import PartsClass, prefix_of
from flashtrain.sim.partition.memories_in_place import with_memories_in_place
from flashtrain.sim.partition.model_facts import ModelFacts, model_facts
from flashtrain.sim.partition.next_states import with_next_states_at_the_clock
from flashtrain.sim.partition.options import FittedPlan, Plan
from flashtrain.sim.partition.plan import plans_of
from flashtrain.sim.partition.registers_as_outputs import with_registers_as_outputs
from flashtrain.sim.partition.split import Cut, cut
from flashtrain.sim.verilator.cxx import own_object
from flashtrain.sim.verilator.verilated import (
    Model,
    ModelSource,
    build_shared_library,
    code_key,
    exported,
    verilate_all,
)
from flashtrain.spec import FmsConfig

_CPP = (Path(__file__).parent / "device", Path(partition.__file__).parent / "runtime")

SIMULATORS = "simulator"
"""Entries of the cache that name the library of a configuration: with one, nothing is elaborated."""

_SHORTEST_LONG_PAGE = 4096
"""Bytes: those of the presets that users run."""

_INDEX = "simulator.json"
_MINUTES = "1 to 10 minutes"
"""Before any simulator has been measured on this machine."""


@dataclass(frozen=True)
class Optimization:
    """The C++ compiler's: of the models, and of the code between them."""

    models: str
    between: str


def optimization_of(config: FmsConfig) -> Optimization:
    """The optimization of the simulator of `config`.

    With short pages nobody simulates for so long that more would save what it costs. Most of the time goes
    between the models.
    """
    is_short = config.geometry.page_bytes < _SHORTEST_LONG_PAGE
    return Optimization("-Og", "-O1") if is_short else Optimization("-O3", "-O3")


def simulator_key(config: FmsConfig, pcie: PcieSizes | None = None) -> str:
    """The key of the simulator of `config`, for these sources and tools."""
    tools = json.dumps(tool_versions()), compiler_version(cxx_compiler())
    sizes = () if pcie is None else (repr(pcie),)
    return content_key(repr(config), *sizes, *tools, code_key(".py", ".sv", ".cpp", ".h"))


def build_library(
    config: FmsConfig, plans: Mapping[str, Plan] | None = None, pcie: PcieSizes | None = None
) -> Path:
    """The library's path; built once per content.

    plans: other ones than `plans_of` has. pcie: with a front end of PCI Express in the place of the tensor
    buffer.
    """
    if plans is not None:
        return _build(config, plans, pcie)[0]
    cache = user_cache()

    def build(folder: Path) -> None:
        print(f"flashtrain: {_first_use(config, cache)}", file=sys.stderr, flush=True)
        library, seconds = _build(config, {}, pcie)
        index = {"library": str(library.relative_to(cache.folder)), "seconds": seconds, "name": config.name}
        (folder / _INDEX).write_text(json.dumps(index), encoding="utf-8")

    key = simulator_key(config, pcie)
    folder = cache.build(SIMULATORS, config.name, key, f"simulator of {config.name}", build)
    library = cache.folder / read_json(folder / _INDEX)["library"]
    if cache.hold(str(library.parent.relative_to(cache.folder))):
        return library
    return _build(config, {}, pcie)[0]  # it was removed, or is damaged


def _first_use(config: FmsConfig, cache: UserCache) -> str:
    """A line on what is compiled, and on how long that takes from nothing."""
    found: dict[str, float] = {}
    for entry in cache.entries():
        if entry.kind == SIMULATORS:
            with suppress(OSError, ValueError):  # a damaged one is for its user to find
                index = read_json(cache.folder / entry.path / _INDEX)
                found.setdefault(index["name"], index["seconds"])
    if config.name in found:
        expected = f"{about(found[config.name])} as the last time, less for what the cache has"
    elif found:
        least, most = about(min(found.values())), about(max(found.values()))
        expected = f"{least if least == most else f'{least} to {most}'}, as others have taken"
    else:
        expected = _MINUTES
    return f"the simulator of {config.name} is compiled once, into {cache.folder}: {expected}"


def _build(config: FmsConfig, plans: Mapping[str, Plan], pcie: PcieSizes | None) -> tuple[Path, float]:
    """The library, and the seconds that it takes if nothing of it is in the cache."""
    plans = {**plans_of(config), **plans}
    optimization = optimization_of(config)
    nand_models = {
        re.findall(r"^module (\w+)", path.read_text(encoding="utf-8"), re.M)[0]: path
        for path in VERILATOR_SOURCES
        if path.suffix == ".sv"
    }
    cuts: list[tuple[str, Cut, FittedPlan]] = []
    sources: dict[str, ModelSource] = {}
    one_clock: dict[str, bool] = {}
    folders: list[Path] = []
    # Codecs are in the front end alone: configurations with and without them share channels and dies.
    raw = replace(config, name="raw", codec=False)
    for name, unit, of_unit in (
        ("FrontEnd", FrontEnd, config),
        ("Channel", ChannelUnit, raw),
        ("Die", DieUnit, raw),
    ):
        plan = plans[name.lower()]
        whole, folder = _cut_sources(unit, plan, name.lower(), of_unit, config.name)
        folders.append(folder)
        cuts.append((name, whole, plan.fit(whole, name.lower())))
        for part in whole.parts:
            if part.module not in sources:
                text = (folder / f"{part.module}.sv").read_text(encoding="utf-8")
                files = [folder / f"{part.module}.sv"]
                files += [path for module, path in nand_models.items() if module in text]
                sources[part.module] = ModelSource(
                    files, part.module, prefix_of(part), optimization=optimization.models
                )
                one_clock[part.module] = not part.gated
    if pcie is not None:
        sources[TOP] = model_source(config, pcie, optimization.models)
    models = dict(
        zip(sources, verilate_all(list(sources.values()), f"the parts of {config.name}"), strict=True)
    )
    parts_of = {module: model for module, model in models.items() if module != TOP}
    facts = {module: model_facts(model, one_clock=one_clock[module]) for module, model in parts_of.items()}
    classes: list[str] = []
    silent: set[tuple[str, str]] = set()
    for name, whole, plan in cuts:
        parts = PartsClass(name, whole, facts, plan)
        classes += parts.lines()
        silent |= parts.silent_ports

    cpp = [path for folder in _CPP for path in sorted(folder.iterdir())]
    pins = [*pins_of_front_end(config), *pins_of_channel(config, (*pins_of_dies(config).answers, "rb_n"))]
    generated = {
        "models.h": header_of_models(parts_of, facts, silent),
        "components.h": [*_HEADER, *classes, *_exchange(config), *pins, *seam_functions(config)],
        "buffer.h": BUFFER_HEADER if pcie is None else _PCIE_BUFFER,
    }
    if pcie is not None:
        generated["pcie_model.h"] = list(model_header(config, pcie))
    library = build_shared_library(
        list(models.values()), cpp, "flashtrain_device", optimization=optimization.between,
        generated={name: "\n".join(lines) + "\n" for name, lines in generated.items()},
        objects=array_objects(optimization.between),
    )  # fmt: skip
    return library, _seconds(folders, list(models.values()), library)


def array_objects(optimization: str) -> list[Path]:
    """The object files of the arrays' contents, which know no model."""
    headers = [path for path in VERILATOR_SOURCES if path.suffix == ".h"]
    sources = [path for path in VERILATOR_SOURCES if path.suffix == ".cpp"]
    return [own_object(source, headers, optimization) for source in sources]


def _seconds(exports: list[Path], models: list[Model], library: Path) -> float:
    """The time that these builds take with as many models at a time as there are processors."""
    cache = user_cache()
    compiled = sum(cache.record(model.folder.parent).seconds for model in models)
    others = sum(cache.record(folder).seconds for folder in (*exports, library.parent))
    return compiled / (os.cpu_count() or 1) + others


def for_verilator(text: str) -> str:
    """The same modules, written so that Verilator makes less of them."""
    return with_memories_in_place(with_next_states_at_the_clock(with_registers_as_outputs(text)))


def _cut_sources(
    unit: Callable[[FmsConfig], wiring.Component], plan: Plan, name: str, config: FmsConfig, user: str
) -> tuple[Cut, Path]:
    """The cut of a component, and the folder with a file for each part. `user` needs it first."""

    def write(folder: Path) -> None:
        whole, modules = cut(unit(config), plan.parts, name, plan.kept, plan.enables)
        plan.fit(whole, name)
        for module in modules:
            (folder / f"{module.name}.sv").write_text(for_verilator(module.text), encoding="utf-8")
        whole.save(folder / "cut.json")

    # What else a plan says does not change the cut.
    content = repr((config, plan.parts, plan.enables, sorted(plan.kept)))
    folder = exported(write, name, content, what=f"the parts of {name}, for {user}")
    return Cut.load(folder / "cut.json"), folder


_HEADER = (
    "// Generated from the ports of the models: parts of front end, channel and die, and their connections.",
    "#pragma once",
    '#include "models.h"',
    '#include "parts.h"',
    '#include "recording.h"',
    "using flashtrain::carry;",
)


BUFFER_HEADER = (
    "// Generated: what is behind the controller's AXI ports.",
    "#pragma once",
    '#include "axi_memory.h"',
    '#include "components.h"',
    "namespace flashtrain { using Buffer = TensorBuffer<FrontEnd>; }",
)
"""`buffer.h` of a device whose tensor buffer has no front end of PCI Express before it."""

_PCIE_BUFFER = (
    "// Generated: what is behind the controller's AXI ports.",
    "#pragma once",
    "#define FLASHTRAIN_PCIE",
    '#include "pcie_host.h"',
    "namespace flashtrain { using Buffer = PcieHost; }",
)


def header_of_models(
    models: dict[str, Model], facts: dict[str, ModelFacts], silent: set[tuple[str, str]]
) -> Iterator[str]:
    """The clocking of each model, the ranges of its state that are compared (`sleep.h`), and the ranges of
    its outputs (`parts.h`).

    `silent`: ports of modules whose changes wake no part.
    """
    yield "// Generated from the text of the models."
    yield "#pragma once"
    yield '#pragma GCC diagnostic ignored "-Winvalid-offsetof"'
    yield '#include "sleep.h"'
    for name, model in models.items():
        root = f"{model.prefix}___024root"
        yield f'#include "{model.prefix}.h"'
        yield f'#include "{root}.h"'
        if facts[name].has_input_logic:
            yield f"FLASHTRAIN_SETTLE({model.prefix})"
        if facts[name].at_the_edge:
            yield from _rising_edge(root, facts[name].at_the_edge)
        elif facts[name].clocked:
            yield f"FLASHTRAIN_EDGE({model.prefix})"
        yield "template <>"
        yield f"struct flashtrain::State<{root}> {{"
        ports = sorted(port for module, port in silent if module == name)
        omitted = [f"FLASHTRAIN_MEMBER({root}, {omitted})" for omitted in (*facts[name].memories, *ports)]
        ranges = f"without(sizeof({root}), {{{', '.join(omitted)}}})"
        yield f"    static inline const std::vector<Range> ranges = {ranges};"
        # One is enough for logic, and not for a chain of memories.
        yield f"    static constexpr int equal_edges = {4 if facts[name].memories else 1};"
        yield "};"
        yield "template <>"
        yield f"struct flashtrain::Outputs<{root}> {{"
        words = [f"FLASHTRAIN_SPAN({root}, {word[0]}, {word[-1]})" for word in facts[name].words]
        yield f"    static constexpr std::array<Range, {len(words)}> words{{{{{', '.join(words)}}}}};"
        yield "};"


def _rising_edge(root: str, functions: tuple[str, ...]) -> Iterator[str]:
    yield from (f"void {function}({root}*);" for function in functions)
    calls = " ".join(f"{function}(&root);" for function in functions)
    yield f"namespace flashtrain {{ inline void rising_edge({root}& root) {{ {calls} }} }}"


def _exchange(config: FmsConfig) -> Iterator[str]:
    """Functions that carry values between front end and channels, and from a channel's pins to its dies."""
    channels = range(config.geometry.channels)
    interface = ChannelInterface(config)
    ports = sorted(_names(interface, driven=True), key=lambda name: not name.endswith("__valid"))
    answers = [name for name in _names(interface, driven=False) if name != "counter_value"]
    bits = [name for name in ports if not name.endswith("__payload")]
    valids = sum(1 << bit for bit, name in enumerate(bits) if name.endswith("__valid"))
    yield f"constexpr int kChannels = {len(channels)};"
    yield f"constexpr int kDies = {config.geometry.dies};"
    for number in channels:
        port = f"channels__{number}__"
        sent = " | ".join(f"from.{port + name}() << {bit}" for bit, name in enumerate(bits))
        yield f"inline uint32_t sent_{number}(const FrontEnd& from) {{ return {sent}; }}"
        yield f"inline void to_channel_{number}(const FrontEnd& from, Channel& to, int i) {{"
        for name in ports:
            # Wide payloads cost much: they are carried only with their `valid`.
            valid = port + name.removesuffix("payload") + "valid"
            guard = f"if (from.{valid}()) " if name.endswith("__payload") else ""
            yield f"    {guard}to.{name}(from.{port + name}(), i);"
        yield "}"
        yield f"inline void from_channel_{number}(const Channel& from, int i, FrontEnd& to) {{"
        for name in answers:
            yield f"    to.{port + name}(from.{name}(i));"
        yield f"    if (to.{port}read_chosen() && from.read_valid(i)) to.read_data(from.read_data(i));"
        yield "}"
        yield f"inline void counter_{number}(const Channel& from, int i, FrontEnd& to) {{"
        yield f"    to.{port}counter_value(from.counter_value(i));"
        yield "}"
    yield f"constexpr int kDataValid = {len(bits)};  // a bit behind those of `sent`"
    yield f"constexpr uint32_t kValid = {valids | 1 << len(bits)};"
    for kind in ("sent", "to_channel", "from_channel", "counter"):
        yield f"constexpr decltype(&{kind}_0) {kind}[] = {{{', '.join(f'{kind}_{n}' for n in channels)}}};"
    pins, members = pins_of_dies(config), dies_bus(config).members
    enable = f"(d / {config.chips.luns})"
    yield "inline void to_die(const Channel& from, Die& to, int i, int d) {"
    yield from (f"    to.pins__{name}(from.nand__{name}(i), i);" for name in pins.shared)
    yield f"    to.pins__{pins.enable}(static_cast<CData>(from.nand__{pins.enable}(i) >> {enable} & 1), i);"
    yield "}"
    yield "// With SCA a die may also send or take data while it is not enabled."
    yield "inline bool may_be_selected(const Channel& from, int i, int d) {"
    enabled = f"!(from.nand__{pins.enable}(i) >> {enable} & 1)"
    yield f"    return {'true' if config.chips.sca else enabled};"
    yield "}"
    yield "template <typename Dies>"
    yield "void from_dies(const Dies& dies, Channel& to, int i) {"
    for name in (*pins.answers, "rb_n"):
        shift = " << d" if name == "rb_n" else ""
        width = Shape.cast(members[name].shape).width
        yield f"    {'CData' if width <= 8 else 'SData'} {name} = 0;"
        yield f"    for (int d = 0; d < kDies; ++d) {name} |= dies[d]->model.pins__{name}(i){shift};"
        yield f"    to.nand__{name}({name}, i);"
    yield "}"


def _names(signature: wiring.Signature, *, driven: bool) -> Iterator[str]:
    """Ports of the signature that its owner drives, or those that it does not."""
    for path, port, value in signature.flatten(signature.create()):
        if len(Value.cast(value)) and (port.flow is Out) == driven:
            yield "__".join(map(str, path))
