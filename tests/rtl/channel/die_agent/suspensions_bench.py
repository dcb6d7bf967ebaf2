"""cocotb tests of a die's agent: how many suspended reads go before a page set, and before an erase ends."""

from itertools import pairwise

import cocotb

from flashtrain.sim.bench.parameters import bench_parameters
from tests.rtl.channel.die_agent.agent_helpers import CONFIG, CYCLES, GEOMETRY, Bench, a_read, a_set
from tests.rtl.channel.die_model import DieModel
from tests.rtl.channel.timeout_streams import wait

RUN = bench_parameters()["read_run"] * GEOMETRY.planes
PROGRAMS = 12


def narrow_rows(planes: int, count: int) -> list[dict]:
    """Reads of the first planes of each row."""
    return [a_read(row, plane, zone=2) for row in range(count) for plane in range(planes)]


@cocotb.test()
@cocotb.parametrize(planes=[2, 3, 4], backlog=[0, 1])
async def pages_count_and_not_sets(dut, planes, backlog):
    """For each program one set is sensed, or with a backlog the pages of a run of sets on all planes.

    The last set may go beyond.
    """
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    dut.backlog.value = backlog
    for row in range(PROGRAMS):
        bench.send_set(**a_set(row))
    while len(bench.works("program")) < 2:
        await wait(dut, 10)
    for read in narrow_rows(planes, 60):
        bench.send_read(**read)
    await bench.finish()
    programs = bench.works("program")
    last = max(work.end for work in bench.die.suspended_reads)
    most = -(-RUN // planes) * planes if backlog else planes
    found = [
        sum(len(read.pages) for read in bench.die.suspended_reads if before.begin <= read.begin < after.begin)
        for before, after in pairwise(programs[2:-2])
        if after.end < last
    ]
    dut._log.info(f"pages of suspended reads for each program: {found}")
    assert max(found) == most


@cocotb.test()
async def an_erase_holds_back_no_reads(dut):
    """A page set that waits for the end of an erase cannot be programmed before: reads go on meanwhile."""
    bench = Bench(dut, DieModel(CONFIG, "die"))
    await bench.start()
    bench.send_erase(3)
    while not bench.works("erase"):
        await wait(dut, 10)
    for row in range(3):
        bench.send_set(**a_set(row))
    for read in narrow_rows(GEOMETRY.planes, 12):
        bench.send_read(**read)
    await bench.finish()
    erase, program = bench.works("erase")[0], bench.works("program")[0]
    inside = [read for read in bench.die.suspended_reads if read.begin < erase.end]
    assert erase.end <= program.begin
    # As many as fit, without a backlog, and more than go before a program.
    assert len(inside) > 1
    suspension = sum(map(CYCLES, ("tsusp", "tr", "tres")))
    assert erase.end - erase.begin == CYCLES("tbers") + len(inside) * suspension
