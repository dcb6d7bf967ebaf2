"""The device that the benches of the whole controller run on."""

from dataclasses import replace

from flashtrain.spec import preset
from flashtrain.spec.streams import Access, NodeTable, Persistency, Retention, Stream
from flashtrain.spec.timing import ns

_TINY = preset("tiny")

CONFIG = replace(
    _TINY,
    name="tiny_bench",
    timing=replace(_TINY.timing, tr=ns(500), tprog=ns(1_600), tbers=ns(800), tcbsy=ns(300)),
)
"""`tiny` with array times that are shorter still: Icarus runs some thousand clocks a second.

A program still takes longer than loading the next page set, and a sense than a change of plane.
"""

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
