"""The tour of one append: the files that it passes, in the order in which docs/block-diagram.md lists them.

- Host and Link: the Python files whose code runs from the call of `append_async` to its result, measured.
- Link: the C++ of the RTL Link beside the generated models, without `ASIDE`: openings, traces, PCI Express.
- Hardware: the sources of the components of the controller and of a die. The page lists each of them in the
  tour or among the components that an append does not pass.

`python -m tests.tour` prints the files of the page and their number.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from amaranth.hdl import Fragment
from amaranth.lib import wiring

from flashtrain.host import open_device
from flashtrain.rtl.controller import Controller
from flashtrain.rtl.die import Die
from flashtrain.rtl.lib.shared import SharedModule
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import FmsConfig, Port

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "block-diagram.md"
TITLE, PASSED_BY = "## One append", "### Not on the way"
SIM = ROOT / "sim" / "flashtrain" / "sim"
MOST_FILES = 60
ASIDE = (
    "sim/flashtrain/sim/partition/runtime/arena.cpp",
    "sim/flashtrain/sim/link/device/recording.h",
    "sim/flashtrain/sim/link/device/pcie_host.h",
)


def _section(text: str, title: str) -> str:
    """The lines below a heading, until the next heading of any level."""
    return re.split(r"^#+ ", text.split(f"{title}\n", 1)[1], maxsplit=1, flags=re.MULTILINE)[0]


def _paths(text: str) -> list[str]:
    return re.findall(r"`((?:hw|sim|sw)/[\w/]+\.(?:py|cpp|h))`", text)


def tour() -> list[str]:
    """The files of the tour, in their order, as the page lists them."""
    return _paths(_section(PAGE.read_text(encoding="utf-8"), TITLE))


def not_on_the_way() -> list[str]:
    """Sources of components that an append does not pass, as the page lists them."""
    return _paths(_section(PAGE.read_text(encoding="utf-8"), PASSED_BY))


def host_files(config: FmsConfig) -> list[str]:
    """Python files of the driver and the Link that run for an append into a non-volatile stream, in order."""
    seen: dict[str, None] = {}

    def record(frame: object, event: str, argument: object) -> None:
        if event == "call":
            seen.setdefault(frame.f_code.co_filename)

    with open_device(config, RtlLink) as device:
        stream = device.stream("inputs", port=Port.HOST)
        array = np.arange(config.geometry.page_bytes, dtype=np.float32)
        sys.setprofile(record)
        try:
            stream.append_async(array).result()
        finally:
            sys.setprofile(None)
    return [path for path in map(_below_root, seen) if path and path.startswith(("sw/", "sim/"))]


def link_files() -> list[str]:
    """C++ of the RTL Link that runs in every cycle, without the models of the arrays."""
    folders = (SIM / "link" / "device", SIM / "partition" / "runtime")
    paths = (str(path.relative_to(ROOT)) for folder in folders for path in sorted(folder.iterdir()))
    return [path for path in paths if path not in ASIDE]


def component_files(config: FmsConfig) -> set[str]:
    """Sources of all components of the controller and of a die."""
    return {
        path
        for top in (Controller(config), Die(config))
        for component in (top, *_components(Fragment.get(top, None)))
        if (path := _below_root(sys.modules[type(component).__module__].__file__ or "")).startswith("hw/")
    }


def _components(fragment: Fragment) -> Iterator[wiring.Component]:
    for child, _, _ in fragment.subfragments:
        for origin in child.origins or ():
            if isinstance(origin, SharedModule):
                yield origin.component
                yield from _components(Fragment.get(origin.component, None))
            elif isinstance(origin, wiring.Component):
                yield origin
        yield from _components(child)


def _below_root(path: str) -> str:
    return str(Path(path).relative_to(ROOT)) if Path(path).is_relative_to(ROOT) else ""


if __name__ == "__main__":
    for number, file in enumerate(tour(), 1):
        print(f"{number:3} {file}")
