"""Page registers with all edges, and with enabled ones only: random inputs in every cycle."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import start

WIDTHS: dict[str, int] = bench_parameters()["widths"]
CYCLES = 5000


def some_inputs(often: float) -> int:
    """Inputs of one bit are high with this probability; wider ones are random."""
    packed, at = 0, 0
    for width in WIDTHS.values():
        packed |= (random.getrandbits(width) if width > 1 else int(random.random() < often)) << at
        at += width
    return packed


@cocotb.test()
async def nothing_is_missed(dut):
    await start(dut, inputs=0)
    seen = set()
    for clock in range(CYCLES):
        dut.inputs.value = some_inputs((0.01, 0.1, 0.5)[clock // 200 % 3])
        await RisingEdge(dut.clk)
        seen.add(str(dut.outputs.value))
    assert len(seen) > CYCLES / 10, "they work"
    assert int(dut.skipped.value) > CYCLES / 20, "edges are skipped"
    assert int(dut.differences.value) == 0
