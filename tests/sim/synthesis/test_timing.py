"""The longest paths of a placed design that is written by hand."""

from flashtrain.sim.synthesis.netlist import Module, Source
from flashtrain.sim.synthesis.timing import longest_paths

SDF = """\
(DELAYFILE
  (CELL
    (CELLTYPE "top")
    (INSTANCE )
    (DELAY
      (ABSOLUTE
        (INTERCONNECT clk/I state/CLK (9000:9000:9000) (9000:9000:9000))
        (INTERCONNECT state/Q sum\\$CCU2_COMB0/A (100:200:300) (100:200:300))
        (INTERCONNECT \\$PACKER_VCC/F unit.data/M (7000:8000:9000) (7000:8000:9000))
        (INTERCONNECT state/Q unit.data/M (1:2:50) (1:2:50))
        (INTERCONNECT sum\\$CCU2_COMB0/F unit.data/DI (0:0:5) (0:0:5))
      )))
  (CELL
    (CELLTYPE "TRELLIS_FF")
    (INSTANCE state)
    (DELAY (ABSOLUTE
        (IOPATH CLK Q (430:477:525) (430:477:525))
    )))
  (CELL
    (CELLTYPE "TRELLIS_COMB")
    (INSTANCE sum\\$CCU2_COMB0)
    (DELAY (ABSOLUTE
        (IOPATH A F (200:218:236) (200:218:236))
    )))
  (CELL
    (CELLTYPE "TRELLIS_FF")
    (INSTANCE unit.data)
    (TIMINGCHECK
        (SETUPHOLD (posedge DI) (posedge CLK) (0:0:10) (233:268:303))
        (SETUPHOLD (posedge M) (posedge CLK) (0:0:-7) (233:268:303))
    ))
)
"""


def cell(kind, **pins):
    ways = {pin: "output" if pin in ("Q", "S0") else "input" for pin in pins}
    return {
        "type": kind,
        "connections": {pin: [bit] for pin, bit in pins.items()},
        "port_directions": ways,
    }


def test_the_longest_paths_have_delays_and_names():
    content = {
        "ports": {},
        "cells": {
            "state": cell("TRELLIS_FF", DI=1, Q=2),
            "sum": cell("CCU2C", A0=2, S0=3),
            "unit.data": cell("TRELLIS_FF", DI=3, Q=4),
        },
        "netnames": {
            name: {"bits": [bit]} for name, bit in (("first", 2), ("unit.total", 3), ("unit.data.field", 4))
        },
    }
    module = Module(content, Source(frozenset(["", "unit"]), frozenset(), {}))
    paths = longest_paths(SDF, module, 5)
    # 525 + 300 + 236 + 5 + 10 ps: the maximal delays. The direct path has the same ends, and is shorter.
    assert [(path.ns, path.unit, path.signals) for path in paths] == [
        (1.076, "unit", ("first", "unit.total", "unit.data.field"))
    ]
    assert str(paths[0]) == "1.08 ns  first > unit.total > unit.data.field"
