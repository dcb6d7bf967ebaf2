"""The devices that the benches of the whole controller run on, and their streams."""

from dataclasses import replace

from flashtrain.spec import preset
from flashtrain.spec.streams import Access, NodeTable, Persistency, Retention, Stream
from flashtrain.spec.timing import ns

_TINY = preset("tiny")
TINY = replace(_TINY, geometry=replace(_TINY.geometry, blocks=12))
"""Four zones for each of the streams of `BENCH_NODE`."""

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

CONFIGS = {config.name: config for config in (TINY, QUICK, WIDE, MANY_CHANNELS, STEADY)}

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
