"""The simulated system as a shared library, for the RTL Link.

Hub, channel and die are compiled once each: one channel's code serves all channels, so a system of 64 takes
little longer to compile than one of 4. Channel and die are cut into parts, so that what rests costs nothing
(`parts.py`). `device.cpp` carries values between hub, channels and dies once per clock, with functions
generated here.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from amaranth import Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from flashtrain.rtl.channel_ports import ChannelPorts
from flashtrain.sim.build_cache import BUILD, build_once, content_key
from flashtrain.sim.channel_unit import ChannelUnit
from flashtrain.sim.cuts import (
    CHANNEL_APARTS,
    CHANNEL_OPTIONS,
    CHANNEL_PARTS,
    DIE_APARTS,
    DIE_OPTIONS,
    DIE_PARTS,
    HUB_APARTS,
    HUB_OPTIONS,
    HUB_PARTS,
)
from flashtrain.sim.hub_unit import HubUnit
from flashtrain.sim.memories_in_place import with_memories_in_place
from flashtrain.sim.model_facts import ModelFacts, model_facts
from flashtrain.sim.nand import SHARED_PINS, VERILATOR_SOURCES, DieUnit
from flashtrain.sim.next_states import with_next_states_at_the_clock
from flashtrain.sim.parts import Apart, Cut, cut
from flashtrain.sim.parts_cpp import PartsClass, prefix_of
from flashtrain.sim.registers_as_outputs import with_registers_as_outputs
from flashtrain.sim.verilated import Model, ModelSource, build_shared_library, exported, verilate_all
from flashtrain.spec import FmsConfig


def build_library(config: FmsConfig) -> Path:
    """The library's path; built once per content."""
    nand_models = {
        re.findall(r"^module (\w+)", path.read_text(), re.M)[0]: path
        for path in VERILATOR_SOURCES
        if path.suffix == ".sv"
    }
    cuts: list[tuple[str, Cut, Mapping[str, Any]]] = []
    sources: dict[str, ModelSource] = {}
    one_clock: dict[str, bool] = {}
    for name, unit, parts, aparts, options in (
        ("Hub", lambda: HubUnit(config), HUB_PARTS, HUB_APARTS, HUB_OPTIONS),
        ("Channel", lambda: ChannelUnit(config), CHANNEL_PARTS, CHANNEL_APARTS, CHANNEL_OPTIONS),
        ("Die", lambda: DieUnit(config), DIE_PARTS, DIE_APARTS, DIE_OPTIONS),
    ):
        guards = options.get("guards", {}).items()
        kept = (
            *options.get("enables", {}).items(),
            *((part, name) for (part, _), names in guards for name in names),
        )
        whole, folder = _cut_sources(unit, parts, aparts, name.lower(), kept, repr(config))
        cuts.append((name, whole, options))
        for part in whole.parts:
            if part.module not in sources:
                text = (folder / f"{part.module}.sv").read_text()
                files = [folder / f"{part.module}.sv"]
                files += [path for module, path in nand_models.items() if module in text]
                sources[part.module] = ModelSource(files, part.module, prefix_of(part))
                one_clock[part.module] = not part.gated
    models = dict(
        zip(sources, verilate_all(list(sources.values()), f"the parts of {config.name}"), strict=True)
    )
    facts = {module: model_facts(model, one_clock=one_clock[module]) for module, model in models.items()}
    classes: list[str] = []
    unheard: set[tuple[str, str]] = set()
    for name, whole, options in cuts:
        generated = PartsClass(name, whole, facts, **options)
        classes += generated.lines()
        unheard |= generated.unheard

    folder = Path(__file__).parent / "verilated_fms"
    cpp = [path for path in VERILATOR_SOURCES if path.suffix in (".cpp", ".h")]
    names = ("device.cpp", "arena.cpp", "axi_memory.h", "carry.h", "step.h", "sleep.h", "parts.h")
    cpp += [folder / name for name in names]
    cpp.append(_generated("models.h", header_of_models(models, facts, unheard)))
    cpp.append(_generated("system.h", [*_HEADER, *classes, *_exchange(config)]))
    return build_shared_library(list(models.values()), cpp, "flashtrain_device")


def for_verilator(text: str) -> str:
    """The same modules, written so that Verilator makes less of them."""
    return with_memories_in_place(with_next_states_at_the_clock(with_registers_as_outputs(text)))


def _cut_sources(
    unit: Callable[[], wiring.Component],
    parts: tuple[type, ...],
    aparts: tuple[Apart, ...],
    name: str,
    kept: tuple[tuple[str, str], ...],
    configuration: str,
) -> tuple[Cut, Path]:
    """The cut of a component, and the folder with a file for each part."""

    def write(folder: Path) -> None:
        whole, modules = cut(unit(), parts, name, kept, aparts)
        for module in modules:
            (folder / f"{module.name}.sv").write_text(for_verilator(module.text))
        whole.save(folder / "cut.json")

    folder = exported(write, name, configuration)
    return Cut.load(folder / "cut.json"), folder


_HEADER = (
    "// Generated from the ports of the models: parts of channel and die, and what joins them and the hub.",
    "#pragma once",
    '#include "models.h"',
    '#include "parts.h"',
    "using flashtrain::carry;",
)


def header_of_models(
    models: dict[str, Model], facts: dict[str, ModelFacts], unheard: set[tuple[str, str]]
) -> Iterator[str]:
    """How each model is moved, the ranges of its state that tell whether it is still (`sleep.h`), and those
    of its outputs (`parts.h`).

    `unheard`: ports of modules that do not.
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
        yield "    static inline const std::vector<Range> ranges = [] {"
        yield "        std::vector<Range> memories;"
        ports = sorted(port for module, port in unheard if module == name)
        for omitted in (*facts[name].memories, *ports):
            yield f"        memories.push_back(FLASHTRAIN_MEMBER({root}, {omitted}));"
        yield f"        return without(sizeof({root}), std::move(memories));"
        yield "    }();"
        # One says it of logic, and not of a chain of memories.
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


def _generated(name: str, lines: Iterable[str]) -> Path:
    text = "\n".join(lines) + "\n"
    path = BUILD / "generated" / content_key(text) / name

    def write() -> None:
        path.write_text(text)

    build_once(path.parent, write)
    return path


def _exchange(config: FmsConfig) -> Iterator[str]:
    """Functions that carry values between hub and channels, and from a channel's pins to its dies."""
    channels = range(config.geometry.channels)
    ports = sorted(_names(ChannelPorts(config), driven=True), key=lambda name: not name.endswith("__valid"))
    answers = [name for name in _names(ChannelPorts(config), driven=False) if name != "counter_value"]
    bits = [name for name in ports if not name.endswith("__payload")]
    news = sum(1 << bit for bit, name in enumerate(bits) if name.endswith("__valid"))
    yield f"constexpr int kChannels = {len(channels)};"
    yield f"constexpr int kDies = {config.geometry.dies};"
    for number in channels:
        at_hub = f"channels__{number}__"
        told = " | ".join(f"from.{at_hub + name}() << {bit}" for bit, name in enumerate(bits))
        yield f"inline uint32_t told_{number}(const Hub& from) {{ return {told}; }}"
        yield f"inline void to_channel_{number}(const Hub& from, Channel& to, int i) {{"
        for name in ports:
            # Payloads change seldom, and wide ones are dear: they move only with their `valid`.
            valid = at_hub + name.removesuffix("payload") + "valid"
            guard = f"if (from.{valid}()) " if name.endswith("__payload") else ""
            yield f"    {guard}to.{name}(from.{at_hub + name}(), i);"
        yield "}"
        yield f"inline void from_channel_{number}(const Channel& from, int i, Hub& to) {{"
        for name in answers:
            yield f"    to.{at_hub + name}(from.{name}(i));"
        yield f"    if (to.{at_hub}read_chosen() && from.read_valid(i)) to.read_data(from.read_data(i));"
        yield "}"
        yield f"inline void counter_{number}(const Channel& from, int i, Hub& to) {{"
        yield f"    to.{at_hub}counter_value(from.counter_value(i));"
        yield "}"
    yield f"constexpr int kDataValid = {len(bits)};  // a bit behind those of `told`"
    yield f"constexpr uint32_t kValid = {news | 1 << len(bits)};"
    for kind in ("told", "to_channel", "from_channel", "counter"):
        yield f"constexpr decltype(&{kind}_0) {kind}[] = {{{', '.join(f'{kind}_{n}' for n in channels)}}};"
    yield "inline void to_die(const Channel& from, Die& to, int i) {"
    yield from (f"    to.pins__{name}(from.nand__{name}(i), i);" for name in SHARED_PINS)
    yield "}"


def _names(signature: wiring.Signature, *, driven: bool) -> Iterator[str]:
    """Ports of the signature that its owner drives, or those that it does not."""
    for path, port, value in signature.flatten(signature.create()):
        if len(Value.cast(value)) and (port.flow is Out) == driven:
            yield "__".join(map(str, path))
