"""The devices that the benches of the whole controller run on, and their streams."""

from dataclasses import replace

from flashtrain.spec import FmsConfig, preset
from flashtrain.spec.presets import PRESETS
from flashtrain.spec.streams import Access, NodeTable, Persistency, Retention, Stream
from flashtrain.spec.timing import ns

_TINY = preset("tiny")
TINY = replace(_TINY, geometry=replace(_TINY.geometry, blocks=12), chips=replace(_TINY.chips, update=False))
"""Four zones for each of the streams of `BENCH_NODE`.

No bench updates: without updates a die is a tenth of one with them, for the compiler.
"""

QUICK = replace(
    TINY,
    name="quick",
    timing=replace(TINY.timing, tr=ns(500), tprog=ns(1_600), tbers=ns(800), tcbsy=ns(300)),
)
"""`tiny` with array times that are shorter still, for Icarus, which runs some thousand cycles a second.

A program still takes longer than loading the next page set, and a sense than a change of plane.
"""

WIDE = replace(
    QUICK, name="wide", geometry=replace(QUICK.geometry, dies=2, planes=4), read_queue=8, write_sets=4
)
"""More dies and planes; for long runs."""

MANY_CHANNELS = replace(
    QUICK,
    name="many_channels",
    geometry=replace(QUICK.geometry, channels=4, dies=2, planes=1, pages=5),
    write_sets=2,
)
"""More channels, but the least of everything else; for long runs."""

STEADY = replace(
    QUICK,
    name="steady",
    geometry=replace(QUICK.geometry, dies=2, planes=4),
    read_pages=8,
    read_queue=16,
    write_sets=6,
)
"""The arrays keep up with the bus, so that bus or port is the bound."""


def quick_preset(name: str) -> FmsConfig:
    """A preset with its planes, page, port, codes and queues, but small and with short array times.

    Two channels of two dies and zones of 12 blocks, as few as the benches need.
    """
    config = preset(name)
    g, t = config.geometry, config.timing
    geometry = replace(g, channels=2, dies=2, blocks=12 + g.spare_blocks, pages=min(g.pages, 8))
    timing = replace(
        t,
        tr=min(t.tr, ns(5_000)),
        tprog=min(t.tprog, ns(10_000)),
        tbers=min(t.tbers, ns(10_000)),
        tcbsy=min(t.tcbsy, ns(5_000)),
    )
    max_blocks = min(config.max_blocks, geometry.zone_capacity)
    return replace(config, name=f"quick_{name}", geometry=geometry, timing=timing, max_blocks=max_blocks)


# The benches watch the pins of a classical bus.
QUICK_PRESETS = [quick_preset(name) for name, config in PRESETS.items() if not config.chips.sca]
CONFIGS = {config.name: config for config in (TINY, QUICK, WIDE, MANY_CHANNELS, STEADY, *QUICK_PRESETS)}

_ALL = Access.READ | Access.APPEND

BENCH_NODE = NodeTable(
    "bench",
    (
        Stream(1, "volatile", Persistency.VOLATILE, Retention.MINUTES, host=_ALL, core=_ALL),
        Stream(2, "durable", Persistency.NON_VOLATILE, Retention.YEARS, host=_ALL, core=_ALL),
        Stream(3, "second_volatile", Persistency.VOLATILE, Retention.DAYS, host=_ALL, core=_ALL),
    ),
)
"""Three streams of four zones, open to both ports."""

ACCESS_NODE = NodeTable(
    "access",
    (
        Stream(1, "core_only", Persistency.VOLATILE, Retention.MINUTES, host=Access.NONE, core=_ALL),
        Stream(
            2, "core_to_host", Persistency.NON_VOLATILE, Retention.YEARS, host=Access.READ, core=Access.APPEND
        ),
        Stream(
            3, "host_to_core", Persistency.VOLATILE, Retention.MINUTES, host=Access.APPEND, core=Access.READ
        ),
        Stream(4, "host_only", Persistency.NON_VOLATILE, Retention.DAYS, host=_ALL, core=Access.NONE),
    ),
)
"""Each port has each kind of access to one stream."""

ONE_STREAM = NodeTable(
    "one", (Stream(1, "volatile", Persistency.VOLATILE, Retention.MINUTES, host=Access.READ, core=_ALL),)
)
"""All zones in one stream."""
