"""Writes a component as SystemVerilog: the same bytes from the same design, on every machine.

The way is Amaranth to RTLIL to Yosys `write_verilog -sv`. Amaranth's own `verilog.convert` writes `always
@*`, which Icarus does not run at time 0 (amaranth issue 1629); `always_comb` is.

    design = export_design(Controller(config), "flashtrain")
    design.files["channel.sv"]             # one file for the top, one for each `SharedModule`
    design.manifest({"preset": "small"})   # ports, configuration and versions as JSON
    lint(design.write(Path("build/verilog")), design.name)
"""

import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

from amaranth.back import rtlil
from amaranth.hdl import ClockDomain, Fragment, Value
from amaranth.hdl._ir import PortDirection
from amaranth.lib import wiring

from flashtrain.rtl.export import shortcuts
from flashtrain.rtl.export.origins import Origin, origins
from flashtrain.rtl.export.synchronisers import SYNCHRONISERS
from flashtrain.rtl.export.tools import (
    tool_versions,
    verilator_binary,
    verilator_environment,
)
from flashtrain.rtl.export.yosys import run_yosys
from flashtrain.rtl.lib.shared import ExportError, SharedModule, clock_ports, leaf_ports
from flashtrain.spec.errors import ToolError

UNAVOIDABLE_WARNINGS = (
    "ASCRANGE",
    "CASEINCOMPLETE",
    "DECLFILENAME",
    "PROCASSINIT",
    "UNUSEDSIGNAL",
    "WIDTHEXPAND",
    "WIDTHTRUNC",
)
"""Classes of Verilator warnings that generated text cannot avoid. Every other warning is an error."""


if version("amaranth") == shortcuts.VERSION:
    shortcuts.take()

_Ports = Mapping[str, tuple[Value, PortDirection]]
"""Ports by name."""


@dataclass(frozen=True)
class Port:
    """A port of a written module. `direction` is `input` or `output`; `width` in bits."""

    name: str
    direction: str
    width: int


@dataclass(frozen=True)
class ExportedModule:
    """A module with its private submodules, as text. `origins` has the component of each, by its name."""

    name: str
    ports: tuple[Port, ...]
    text: str
    origins: Mapping[str, Origin]


@dataclass(frozen=True)
class ExportedDesign:
    """A top, which is the first of `modules`, and all modules shared below it."""

    name: str
    modules: tuple[ExportedModule, ...]

    @property
    def files(self) -> dict[str, str]:
        """Text by file name."""
        return {f"{module.name}.sv": module.text for module in self.modules}

    def manifest(self, configuration: Mapping[str, object]) -> str:
        """JSON: name, version, tools, configuration, files, and the ports of every module.

        `configuration` contains only values that JSON can represent.
        """
        content = {
            "name": self.name,
            "version": version("flashtrain"),
            "tools": tool_versions(),
            "configuration": dict(configuration),
            "files": list(self.files),
            "modules": {
                module.name: [
                    {"name": port.name, "direction": port.direction, "width": port.width}
                    for port in module.ports
                ]
                for module in self.modules
            },
        }
        return json.dumps(content, indent=2) + "\n"

    def write(self, folder: Path) -> list[Path]:
        """Write the files into `folder` and return their paths, the top's first.

        A file that already holds its text is left alone, so that builds by time stamp stay valid.
        """
        folder.mkdir(parents=True, exist_ok=True)
        paths = []
        for name, text in self.files.items():
            path = folder / name
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")
            paths.append(path)
        return paths


class LintError(ToolError):
    """Verilator warns about the text."""


def export_design(top: wiring.Component, name: str, domains: Iterable[str] = ("sync",)) -> ExportedDesign:
    """Write `top` as module `name`, and each component under a `SharedModule` as a module of its own.

    domains: those that `top` uses. Every module has a clock and a reset for each of its domains beside its
    leaf ports: `clk` and `rst` for `sync`, else `<domain>_clk` and `<domain>_rst`. The resets are synchronous
    and active high.

    Raises `ExportError` if one name stands for two components.
    """
    modules = (
        _write_fragment(fragment, ports, module) for module, fragment, ports in _modules(top, name, domains)
    )
    return ExportedDesign(name, tuple(modules))


def to_systemverilog(top: wiring.Component, name: str) -> str:
    """The whole design under `top` as one text."""
    return "\n".join(export_design(top, name).files.values())


def to_rtlil(top: wiring.Component, name: str) -> dict[str, str]:
    """The design under `top` in Yosys' own language, for synthesis: the top's text first, then one for each
    shared module.

    Raises `ExportError` if one name stands for two components.
    """
    texts = {}
    for module, fragment, ports in _modules(top, name, ["sync"]):
        texts[module], _names = rtlil.convert_fragment(fragment, ports, module, emit_src=False)
    return texts


def lint(
    files: Iterable[Path], top: str, waived: Iterable[str] = UNAVOIDABLE_WARNINGS, folder: Path | None = None
) -> None:
    """Check files with Verilator's `-Wall`, less the classes in `waived`. Raises `LintError`.

    folder: paths are relative to it, also in messages.
    """
    options = [f"-Wno-{kind}" for kind in waived]
    done = subprocess.run(
        [verilator_binary(), "--lint-only", "-Wall", *options, "--top-module", top, *files],
        cwd=folder,
        env=verilator_environment(),
        text=True,
        capture_output=True,
    )
    if done.returncode:
        raise LintError(f"{top} is not lint-clean:\n{done.stderr.strip()}")


def _modules(
    top: wiring.Component, name: str, domains: Iterable[str]
) -> Iterator[tuple[str, Fragment, _Ports]]:
    """Name, elaborated text and ports of `top`, as module `name`, and of each shared module below it."""
    found: dict[str, wiring.Component] = {name: top}
    domains_of = {name: tuple(domains)}
    pending = [name]
    while pending:
        module = pending.pop()
        fragment = Fragment.get(found[module], SYNCHRONISERS)
        for shared in _shared_modules(fragment):
            if shared.module_name not in found:
                found[shared.module_name] = shared.component
                domains_of[shared.module_name] = tuple(shared.domains)
                pending.append(shared.module_name)
            component = found[shared.module_name]
            if component is not shared.component:
                raise ExportError(
                    f"module {shared.module_name!r} stands for two different components, "
                    f"{type(component).__name__} and {type(shared.component).__name__}: "
                    f"give one and the same object to each SharedModule of that name"
                )
        clocks = {domain: ClockDomain(domain) for domain in domains_of[module]}
        yield module, fragment, _with_clocks(fragment, _leaf_directions(found[module]), clocks)


def _shared_modules(fragment: Fragment) -> Iterator[SharedModule]:
    """Every `SharedModule` that the fragment was elaborated from."""
    for origin in fragment.origins or ():
        if isinstance(origin, SharedModule):
            yield origin
    for child, _name, _src_loc in fragment.subfragments:
        yield from _shared_modules(child)


def _leaf_directions(component: wiring.Component) -> _Ports:
    return {
        port: (value, PortDirection.Input if flow == wiring.In else PortDirection.Output)
        for port, flow, value in leaf_ports(component)
    }


def export_fragment(
    fragment: Fragment,
    ports: _Ports,
    name: str,
    clock: ClockDomain | None = None,
) -> ExportedModule:
    """Write an elaborated fragment as module `name`; `clk` and `rst` are those of `clock`, or of `sync`."""
    return _write_fragment(
        fragment, _with_clocks(fragment, ports, {"sync": clock or ClockDomain("sync")}), name
    )


def _with_clocks(fragment: Fragment, ports: _Ports, domains: Mapping[str, ClockDomain]) -> _Ports:
    """Give the fragment these domains; its ports, and before them the clock and the reset of each domain, by
    the name that the domain has outside.
    """
    own: dict[str, tuple[Value, PortDirection]] = {}
    for name, domain in domains.items():
        fragment.add_domains(domain)
        for port, signal in zip(clock_ports(name), (domain.clk, domain.rst), strict=True):
            own[port] = signal, PortDirection.Input
    return {**own, **ports}


def _write_fragment(fragment: Fragment, ports: _Ports, name: str) -> ExportedModule:
    design = fragment.prepare(ports=ports, hierarchy=(name,))
    rtlil_text, _names = rtlil.convert_fragment(design, ports, name, emit_src=False)
    header = f"// Module {name} of flashtrain {version('flashtrain')}. Generated: do not edit.\n"
    return ExportedModule(
        name=name,
        ports=tuple(
            Port(port, "input" if direction == PortDirection.Input else "output", len(value))
            for port, (value, direction) in ports.items()
        ),
        text=header + _fold_memory_contents(_to_systemverilog(rtlil_text)),
        origins=origins(design),
    )


def _to_systemverilog(rtlil_text: str) -> str:
    internal = " ".join(
        f"-remove {attribute}"
        for attribute in ("generator", "top", "src", "amaranth.hierarchy", "amaranth.decoding")
    )
    # Multiplexers stay case statements, which read better and simulate faster.
    script = [
        f"read_rtlil <<rtlil\n{rtlil_text}\nrtlil",
        "proc -nomux -norom",
        # A bound that the configuration makes 0 or the largest number is a constant, and not a comparison.
        "opt_expr -fine t:$lt t:$le t:$gt t:$ge",
        "memory_collect",
        f"attrmap {internal}",
        f"attrmap -modattr {internal}",
        "write_verilog -sv -norename",
    ]
    return run_yosys("\n".join(script))


_MEMORY_CONTENTS = re.compile(
    r"^  initial begin\n(?P<rows>(?:    \S+ ?\[\d+\] = \S+;\n)+)  end\n", re.MULTILINE
)
_MEMORY_ROW = re.compile(r"    (?P<memory>\S+ ?)\[(?P<index>\d+)\] = (?P<value>\S+);\n")


def _fold_memory_contents(text: str) -> str:
    """Write runs of equal initial memory rows as loops: a buffer of zeros is one line, not thousands."""
    return _MEMORY_CONTENTS.sub(lambda block: f"  initial begin\n{_fold_rows(block['rows'])}  end\n", text)


def _fold_rows(rows: str) -> str:
    folded = []
    for value, group in groupby(_MEMORY_ROW.finditer(rows), key=lambda row: row["value"]):
        run = list(group)
        first, last = int(run[0]["index"]), int(run[-1]["index"])
        if len(run) > 2 and last - first + 1 == len(run):
            loop = f"for (int memory_row = {first}; memory_row <= {last}; memory_row = memory_row + 1)"
            folded.append(f"    {loop} {run[0]['memory']}[memory_row] = {value};\n")
        else:
            folded.extend(row[0] for row in run)
    return "".join(folded)
