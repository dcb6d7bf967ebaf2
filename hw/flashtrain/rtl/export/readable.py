"""Exported text for people: plain names, ports in the header, and where each module comes from.

The text of simulators stays as Yosys writes it, since compiled models are named after it. The two differ in
names, comments and layout, and in nothing else:

- No escaped identifiers. `a.b` is `a__b`, `a$7` is `a_7`, `a[1]` is `a_1`, and a keyword ends in `_`.
- Module headers list ports with direction and width, the clock and the reset first.
- A comment over each module names its component and the component's file in the tree.
- Attributes of enumerations are comments, once per module; signals of no width are gone.
- Combinational processes are a macro that Icarus 11 reads, too (`export.icarus`).
"""

import re
from collections.abc import Mapping
from dataclasses import replace
from textwrap import fill

from .icarus import portable_processes
from .origins import Origin
from .systemverilog import ExportedDesign, ExportedModule

_ESCAPED = re.compile(r"\\(\S+) ")
_PLAIN = re.compile(r"(?<![\\\w$.])[A-Za-z_]\w*")
_NO_WIDTH = re.compile(r"^(?:  \(\* .* \*\)\n)*  (?:wire|reg) \[-1:0\] .*;\n", re.MULTILINE)
_NOISE = re.compile(r"^ *\(\* (?:init = .*|full_case = 32'd1) \*\)\n(?= *(?:wire|reg|if)\b)", re.MULTILINE)
_ENUMERATION = re.compile(
    r"^  \(\* enum_base_type = \"(?P<name>\w+)\" \*\)\n"
    r"(?P<values>(?:  \(\* enum_value_\w+ = \".*\" \*\)\n)*)",
    re.MULTILINE,
)
_VALUE = re.compile(r"enum_value_(?P<bits>[01]+) = \"(?P<name>.*)\"")
_MODULE = re.compile(r"^module (?P<name>\S+) ?\((?P<ports>[^;]*)\);\n", re.MULTILINE)
_PORT = re.compile(r"^  (?P<direction>input|output) (?P<width>\[[^]]*\] )?(?P<name>\w+);\n", re.MULTILINE)
_NET = re.compile(
    r"^  (?P<kind>wire|reg) (?P<width>\[[^]]*\] )?(?P<name>\w+)(?P<init> = [^;]*)?;\n", re.MULTILINE
)
_COLUMNS = 100
_FIRST = ("clk", "rst")


def readable(design: ExportedDesign) -> ExportedDesign:
    """The same design as text for people."""
    modules = tuple(replace(module, text=readable_text(module)) for module in design.modules)
    return replace(design, modules=modules)


def readable_text(module: ExportedModule) -> str:
    names = _plain_names(module.text)
    text = _NO_WIDTH.sub("", module.text)
    text = _NOISE.sub("", text)
    text = _ESCAPED.sub(lambda name: names[name[1]], text)
    known = {names.get(name, name): origin for name, origin in module.origins.items()}
    pieces = re.split(r"(?<=^endmodule\n)", text, flags=re.MULTILINE)
    return portable_processes("".join(_readable_module(piece, known) for piece in pieces))


def _plain_names(text: str) -> dict[str, str]:
    """A plain identifier for each escaped one of a file; a name has the same in all modules."""
    taken = set(_PLAIN.findall(text))
    names: dict[str, str] = {}
    for escaped in dict.fromkeys(_ESCAPED.findall(text)):
        name = base = _plain_name(escaped)
        number = 2
        while name in taken:
            name = f"{base}_{number}"
            number += 1
        taken.add(name)
        names[escaped] = name
    return names


def _plain_name(escaped: str) -> str:
    if escaped.isidentifier():  # else it were not escaped: a keyword
        return f"{escaped}_"
    # Yosys names what it makes itself after the line of its own source.
    name = re.sub(r"^\$auto\$.*:(\w+)\$", r"\1_", escaped).lstrip("$")
    name = re.sub(r"\W+", "_", name.replace(".", "__").replace("]", "").replace("$", "_"))
    return f"n{name}" if name[0].isdigit() else name


def _readable_module(text: str, origins: Mapping[str, Origin]) -> str:
    header = _MODULE.search(text)
    if header is None:
        return text
    name = header["name"]
    ports = [port.strip() for port in header["ports"].split(",") if port.strip()]
    ports.sort(key=lambda port: _FIRST.index(port) if port in _FIRST else len(_FIRST))
    body = _fold_enumerations(text[header.end() :])
    directions = {port["name"]: (port["direction"], port["width"] or "") for port in _PORT.finditer(body)}
    nets = {net["name"]: net for net in _NET.finditer(body) if net["name"] in directions}
    body = _PORT.sub("", body)
    body = _NET.sub(lambda net: "" if net["name"] in directions else net[0], body)
    lines = []
    for port in ports:
        direction, width = directions[port]
        net = nets[port]
        lines.append(f"    {direction:6} {net['kind']:4} {width}{port}{net['init'] or ''}")
    declared = ",\n".join(lines)
    comment = ""
    if name in origins:
        origin = origins[name]
        comment = _comment(f"{origin.component}, {origin.source}")
        comment += _comment(origin.summary) if origin.summary else ""
    return f"{text[: header.start()]}{comment}module {name}(\n{declared}\n);\n{body}"


def _fold_enumerations(body: str) -> str:
    """The first use of an enumeration in a module lists its values, the others name it."""
    seen: set[str] = set()

    def comment(found: re.Match[str]) -> str:
        name = found["name"]
        if name in seen:
            return f"  // {name}\n"
        seen.add(name)
        values = [f"{int(value['bits'], 2)} {value['name']}" for value in _VALUE.finditer(found["values"])]
        return _comment(f"{name}: {', '.join(values)}", "  ")

    # A port has its attributes twice: before the direction and before the net.
    body = re.sub(rf"{_ENUMERATION.pattern}(?=  (?:input|output) )", "", body, flags=re.MULTILINE)
    return _ENUMERATION.sub(comment, body)


def _comment(text: str, indent: str = "") -> str:
    prefix = f"{indent}// "
    return fill(text, _COLUMNS, initial_indent=prefix, subsequent_indent=prefix) + "\n"
