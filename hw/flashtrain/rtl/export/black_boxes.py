"""Black boxes for lint: a module that has many instances is read once."""

import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

BOXES = "black_boxes.sv"

_INSTANCE = re.compile(r"^  (?P<module>\w+)(?= \w+ \($)", re.MULTILINE)
_SUFFIX = "_box"


def with_black_boxes(texts: Mapping[str, str]) -> dict[str, str]:
    """The same files, and `BOXES`: the first instance of a module in a file is whole, all others are boxes.

    texts: SystemVerilog by path. A module counts if a file has its name. A box has the ports and nothing
    inside, so widths, directions and missing pins are found at each instance. The first one shows the faults
    inside of the module, and on paths through it. Lines keep their numbers.
    """
    modules = {PurePosixPath(path).stem: text for path, text in texts.items()}
    used: set[str] = set()

    def boxed(text: str) -> str:
        seen: set[str] = set()

        def instance(found: re.Match[str]) -> str:
            module = found["module"]
            if module in seen:
                used.add(module)
                return f"{found[0]}{_SUFFIX}"
            if module in modules:
                seen.add(module)
            return found[0]

        return _INSTANCE.sub(instance, text)

    files = {path: boxed(text) for path, text in texts.items()}
    return files | {BOXES: "".join(_boxes(modules, used))}


def _boxes(modules: Mapping[str, str], used: set[str]) -> Iterator[str]:
    yield "/* verilator lint_off DECLFILENAME */\n/* verilator lint_off UNDRIVEN */\n"
    for name in sorted(used):
        header = re.search(rf"^module {name}\((?P<ports>[^;]*)\);$", modules[name], re.MULTILINE)
        if header is None:
            raise ValueError(f"module {name!r} has no list of ports with their directions")
        yield f"module {name}{_SUFFIX}({header['ports']});\nendmodule\n"
