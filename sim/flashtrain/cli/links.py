"""The Links that can be asked for by name."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flashtrain.spec import FmsConfig

if TYPE_CHECKING:
    from flashtrain.host import Link, LinkFactory


SERIAL = "serial:"
"""Before the path of a board's terminal."""


@dataclass(frozen=True)
class LinkKind:
    """A Link by name. `summary` is for the help; `timed` whether it counts cycles.

    kept: its flash was there before, and stays.
    """

    name: str
    summary: str
    timed: bool
    factory: "LinkFactory"
    kept: bool = False


def _functional(config: FmsConfig, memory_bytes: int) -> "Link":
    # Late: NumPy takes a moment to import.
    from flashtrain.host import FunctionalLink

    return FunctionalLink(config, memory_bytes)


def _rtl(config: FmsConfig, memory_bytes: int) -> "Link":
    # Late: the hardware's language takes a moment to import, and only this Link needs it.
    from flashtrain.sim.link.rtl_link import RtlLink

    return RtlLink(config, memory_bytes)


def _model(config: FmsConfig, memory_bytes: int) -> "Link":
    # Late: its kernel is compiled at first use.
    from flashtrain.model import ModelLink

    return ModelLink(config, memory_bytes)


def _serial(name: str) -> LinkKind:
    """The Link to a board behind the terminal of that name, `serial:PATH`."""

    def make(config: FmsConfig, memory_bytes: int) -> "Link":
        from flashtrain.host.serial import SerialLink

        return SerialLink(name.removeprefix(SERIAL), config)  # the board has a memory of its own

    return LinkKind(name, "a board behind a serial line", timed=False, factory=make, kept=True)


class Links(dict[str, LinkKind]):
    """Links by name, and those to boards by the path of their terminal."""

    def __missing__(self, name: str) -> LinkKind:
        if len(name) > len(SERIAL) and name.startswith(SERIAL):
            return _serial(name)
        raise KeyError(name)


LINKS = Links(
    (kind.name, kind)
    for kind in (
        LinkKind("functional", "exact data and statuses, no time", timed=False, factory=_functional),
        LinkKind("model", "exact data, cycles by a model", timed=True, factory=_model),
        LinkKind("rtl", "the hardware in Verilator", True, _rtl),
    )
)


def announced(kind: LinkKind, say: Callable[[str], None]) -> "LinkFactory":
    """The factory of `kind`. It prints a message before it opens a timed Link; a build prints its own."""

    def make(config: FmsConfig, memory_bytes: int) -> "Link":
        say(f"opening {config.name} through the {kind.name} link")
        return kind.factory(config, memory_bytes)

    return make if kind.timed else kind.factory
