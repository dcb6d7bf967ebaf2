"""The simulated system as a shared library, for the RTL Link.

Hub, channel and die are models of their own: one channel's code serves all channels, so a system of 64 takes
little longer to compile than one of 4, and whatever rests costs nothing. What changes all the time, the
clockwork of hub and channels, is small and apart. `device.cpp` carries values between them once per clock,
with functions generated here.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from amaranth import Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from flashtrain.rtl.channel.clockwork import ChannelClockwork
from flashtrain.rtl.channel.die_watch import DieTimers
from flashtrain.rtl.channel_ports import ChannelPorts
from flashtrain.rtl.frontend.clockwork import HubClockwork, HubClockworkPort
from flashtrain.rtl.hub import Hub
from flashtrain.rtl.tools import ToolError
from flashtrain.sim.build_cache import BUILD, content_key
from flashtrain.sim.channel_unit import ChannelUnit
from flashtrain.sim.nand import SHARED_PINS, VERILATOR_SOURCES, DieUnit
from flashtrain.sim.verilated import Model, build_shared_library, exported_sources, verilate
from flashtrain.spec import FmsConfig

_UNITS = {
    "Vhub": (Hub, "flashtrain_hub"),
    "Vhub_clockwork": (HubClockwork, "flashtrain_hub_clockwork"),
    "Vchannel": (ChannelUnit, "flashtrain_channel_unit"),
    "Vchannel_clockwork": (ChannelClockwork, "flashtrain_channel_clockwork"),
    "Vdie": (DieUnit, "flashtrain_die_unit"),
}
_NAND_MODELS = {"Vchannel": "checker", "Vdie": "array"}
_SEVERAL_CLOCKS = ("Vdie",)
# Models that sleep, with the inputs that do not wake them.
_SLEEPERS = {"Vhub": (), "Vchannel": ("cycle",)}


def build_library(config: FmsConfig) -> Path:
    """The library's path; built once per content."""
    nand_models = {path.stem: path for path in VERILATOR_SOURCES if path.suffix == ".sv"}
    models = {}
    for prefix, (unit, name) in _UNITS.items():
        sources = exported_sources(lambda unit=unit: unit(config), name, repr(config))
        if prefix in _NAND_MODELS:
            sources.append(nand_models[_NAND_MODELS[prefix]])
        models[prefix] = verilate(sources, name, prefix)
        if prefix not in _SEVERAL_CLOCKS:
            _require_one_trigger(models[prefix], name)
    folder = Path(__file__).parent / "verilated_fms"
    cpp = [path for path in VERILATOR_SOURCES if path.suffix == ".cpp"]
    cpp += [folder / name for name in ("device.cpp", "axi_memory.h", "carry.h", "step.h", "sleep.h")]
    cpp.append(_generated("exchange.h", _exchange(config)))
    cpp.append(_generated("state.h", _states(models[prefix] for prefix in _SLEEPERS)))
    return build_shared_library(list(models.values()), cpp, "flashtrain_device")


def _require_one_trigger(model: Model, name: str) -> None:
    """Nothing but the clock may set a model in motion, or `step.h` would miss it."""
    code = "".join(path.read_text() for path in sorted(model.folder.glob(f"{model.prefix}___024root__*.cpp")))
    triggers = set(re.findall(r"(\w+)ULL & vlSelfRef\.__VnbaTriggered", code))
    if triggers != {"1"}:
        raise ToolError(
            f"{name} has triggers {sorted(triggers)} beside its clock: combinational loops, as those of a "
            "struct that reads its own fields, see UNOPTFLAT in its build.log"
        )


def _generated(name: str, lines: Iterable[str]) -> Path:
    text = "\n".join(lines) + "\n"
    path = BUILD / "generated" / content_key(text) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def _exchange(config: FmsConfig) -> Iterator[str]:
    """Functions that carry values from the ports of a model to another's; true if one has changed."""
    channels = range(config.geometry.channels)
    ports = [name for name in _names(ChannelPorts(config), driven=True)]
    answers = [name for name in _names(ChannelPorts(config), driven=False) if name != "counter_value"]
    yield "// Generated from the ports of the models: values between them."
    yield "#pragma once"
    yield f"constexpr int kChannels = {len(channels)};"
    yield f"constexpr int kDies = {config.geometry.dies};"
    yield '#include "carry.h"'
    yield from (f'#include "{prefix}.h"' for prefix in _UNITS)
    yield "using flashtrain::carry;"

    for number in channels:
        at_hub = f"channels__{number}__"
        yield from _function(f"to_channel_{number}", "Vhub", "Vchannel", ports, prefix=at_hub)
        yield from _function(
            f"from_channel_{number}", "Vchannel", "Vhub", answers, target_prefix=at_hub,
            more="if (from.read_chosen && from.read_valid) changed |= carry(to.read_data, from.read_data);",
        )  # fmt: skip
        yield from _function(
            f"counter_{number}", "Vchannel_clockwork", "Vhub", ["counter_value"], target_prefix=at_hub
        )
    for kind in ("to_channel", "from_channel", "counter"):
        yield f"constexpr decltype(&{kind}_0) {kind}[] = {{{', '.join(f'{kind}_{n}' for n in channels)}}};"

    dies = {f"timers__{die}": DieTimers(config) for die in range(config.geometry.dies)}
    timers = [f"{die}__{name}" for die, port in dies.items() for name in _names(port, driven=True)]
    running = [f"{die}__{name}" for die, port in dies.items() for name in _names(port, driven=False)]
    yield from _function("to_clockwork", "Vchannel", "Vchannel_clockwork", [*timers, "activity", "events"])
    yield from _function("from_clockwork", "Vchannel_clockwork", "Vchannel", running)
    port = HubClockworkPort(config)
    counted = list(_names(port, driven=True))
    yield from _function(
        "to_clockwork", "Vhub", "Vhub_clockwork", counted, prefix="clockwork__", target_prefix="port__"
    )
    yield from _function(
        "from_clockwork", "Vhub_clockwork", "Vhub", ["value"], prefix="port__", target_prefix="clockwork__"
    )
    yield from _function("to_die", "Vchannel", "Vdie", SHARED_PINS, prefix="nand__", target_prefix="pins__")


def _names(signature: wiring.Signature, *, driven: bool) -> Iterator[str]:
    """Ports of the signature that its owner drives, or those that it does not."""
    for path, member, value in signature.flatten(signature.create()):
        if len(Value.cast(value)) and (member.flow is Out) == driven:
            yield "__".join(map(str, path))


def _function(
    function: str,
    source: str,
    target: str,
    names: Iterable[str],
    *,
    prefix: str = "",
    target_prefix: str = "",
    more: str = "",
) -> Iterator[str]:
    yield f"inline bool {function}(const {source}& from, {target}& to) {{"
    yield "    bool changed = false;"
    # Payloads change seldom, and wide ones are dear: they move only with their `valid`.
    for name in sorted(names, key=lambda name: not name.endswith("__valid")):
        guard = ""
        if name.endswith("__payload"):
            guard = f"if (from.{_spelling(prefix + name.removesuffix('payload') + 'valid')}) "
        there, here = f"to.{_spelling(target_prefix + name)}", f"from.{_spelling(prefix + name)}"
        yield f"    {guard}changed |= carry({there}, {here});"
    yield f"    {more}"
    yield "    return changed;"
    yield "}"


def _spelling(name: str) -> str:
    """The member of a model's class that stands for port `name`."""
    return name.replace("__", "___05F")


def _states(models: Iterable[Model]) -> Iterator[str]:
    """The ranges of each model's state that tell whether it is still (see `sleep.h`)."""
    yield "// Generated from the models' headers."
    yield "#pragma once"
    yield '#pragma GCC diagnostic ignored "-Winvalid-offsetof"'
    yield '#include "sleep.h"'
    for model in models:
        root = f"{model.prefix}___024root"
        header = (model.folder / f"{root}.h").read_text()
        memories = [
            name for rows, name in re.findall(r"VlUnpacked<.*, (\d+)> (\w+);", header) if int(rows) > 64
        ]
        omitted = [*memories, *_SLEEPERS[model.prefix]]
        yield "template <>"
        yield f"struct flashtrain::State<{root}> {{"
        yield "    static inline const std::vector<Range> ranges = [] {"
        yield "        std::vector<Range> memories;"
        for name in omitted:
            yield f"        memories.push_back(FLASHTRAIN_MEMBER({root}, {name}));"
        yield f"        return without(sizeof({root}), std::move(memories));"
        yield "    }();"
        yield "};"
