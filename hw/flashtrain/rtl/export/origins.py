"""Where each module of an exported design comes from: the component, and its file in the tree."""

import inspect
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from amaranth.hdl._ir import Design, Elaboratable, Fragment

_ROOTS = {"spec": "hw", "rtl": "hw", "sim": "sim"}
"""The top-level folders of the packages that contain components."""


@dataclass(frozen=True)
class Origin:
    """A component: its class, its file relative to the tree, and the first line of its docstring."""

    component: str
    source: str
    summary: str


def origins(design: Design) -> dict[str, Origin]:
    """The origin of each module of a design, by the name that it has in RTLIL."""
    found = {}
    for fragment, info in design.fragments.items():
        component = next(_components(fragment), None)
        if component is not None:
            found[".".join(info.name)] = _origin(type(component))
    return found


def _components(fragment: Fragment) -> Iterator[Elaboratable]:
    """The elaboratables that the fragment comes from, without Amaranth's own wrappers and modules."""
    for origin in fragment.origins or ():
        if not type(origin).__module__.startswith("amaranth.hdl."):
            yield origin


def _origin(kind: type) -> Origin:
    summary = (inspect.getdoc(kind) or "").partition("\n\n")[0]
    return Origin(kind.__name__, _source(kind.__module__), " ".join(summary.split()))


def _source(module: str) -> str:
    """The path in the tree of one of our modules; the dotted name of another."""
    package, *parts = module.split(".")
    if package != "flashtrain" or not parts or parts[0] not in _ROOTS:
        return module
    is_package = hasattr(sys.modules[module], "__path__")
    return "/".join((_ROOTS[parts[0]], package, *parts)) + ("/__init__.py" if is_package else ".py")
