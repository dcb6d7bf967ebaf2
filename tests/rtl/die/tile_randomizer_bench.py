"""Words and identities of tiles, in any order, with registers that let them wait."""

import random

import cocotb
import numpy as np
from cocotb.triggers import ReadOnly, RisingEdge, Timer

from flashtrain.numerics.page_randomizer import page_keys
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.rounds import rounds
from flashtrain.sim.bench.streams import start
from flashtrain.spec import preset

CONFIG = preset(bench_parameters()["config"])
GEOMETRY = CONFIG.geometry
WORDS = GEOMETRY.page_set_bytes // 4
INPUTS = (
    "source", "target",
    "values__read", "values__read_index", "values__write", "values__write_index", "values__result",
    "tile__read_ready", "tile__operand", "tile__write_ready",
    "plain__write", "plain__read", "plain__plane", "plain__lane", "plain__content", "identities__ready",
    "identities__read_ready", "identities__found",
)  # fmt: skip


class Twin:
    """Keys of a row on all planes: of words of data by number, of lanes of identities."""

    def __init__(self, row: int):
        keys = page_keys(GEOMETRY, row, np.arange(GEOMETRY.planes))
        self.words = keys[:, : GEOMETRY.page_bytes].copy().view("<u4").ravel().tolist()
        self.lanes = keys[:, GEOMETRY.page_bytes :].copy().view("<u8").tolist()


def some_word() -> int:
    """Often one at the end of a page."""
    page = GEOMETRY.page_bytes // 4
    edge = random.randrange(GEOMETRY.planes) * page
    return random.choice((edge, edge + page - 1, random.randrange(WORDS)))


@cocotb.test()
async def everything_at_once(dut):
    """All is passed on in its clock; what was read one clock later."""
    await start(dut, **dict.fromkeys(INPUTS, 0))
    comes, lane_comes = None, None  # the key of what was read in the clock before
    source = target = Twin(0)
    reads = lanes_read = 0
    for clock in range(rounds(3000)):
        if clock % 100 == 0:
            comes = lane_comes = None
            rows = random.randrange(GEOMETRY.pages), random.randrange(GEOMETRY.pages)
            dut.source.value, dut.target.value = rows
            source, target = map(Twin, rows)
        values = {name: random.getrandbits(1) for name in INPUTS if name.endswith(("read", "write", "ready"))}
        values |= {
            "values__read_index": some_word(),
            "values__write_index": some_word(),
            "values__result": random.getrandbits(32),
            "tile__operand": random.getrandbits(32),
            "plain__plane": random.randrange(GEOMETRY.planes),
            "plain__lane": random.getrandbits(1),
            "plain__content": random.getrandbits(64),
            "identities__found": random.getrandbits(64),
        }
        if values["plain__read"]:
            values["plain__write"] = 0
        for name, value in values.items():
            getattr(dut, name).value = value
        await Timer(1, "ns")
        await ReadOnly()
        for name in ("tile__read", "tile__read_index", "tile__write", "tile__write_index"):
            assert getattr(dut, name).value == values[name.replace("tile", "values")], name
        for name in ("identities__write", "identities__read", "identities__plane", "identities__lane"):
            assert getattr(dut, name).value == values[name.replace("identities", "plain")], name
        assert dut.values__read_ready.value == values["tile__read_ready"]
        assert dut.values__write_ready.value == values["tile__write_ready"]
        assert dut.plain__ready.value == values["identities__ready"]
        assert (
            dut.tile__result.value == values["values__result"] ^ target.words[values["values__write_index"]]
        )
        plane, lane = values["plain__plane"], values["plain__lane"]
        if not values["plain__read"]:
            assert dut.identities__content.value == values["plain__content"] ^ target.lanes[plane][lane]
        assert dut.plain__read_ready.value == values["identities__read_ready"]
        if lane_comes is not None:
            assert dut.plain__found.value == values["identities__found"] ^ lane_comes
            lanes_read += 1
        lane_comes = None
        if values["plain__read"] and values["identities__read_ready"]:
            lane_comes = source.lanes[plane][lane]
        if comes is not None:
            assert dut.values__operand.value == values["tile__operand"] ^ comes
            reads += 1
        read = values["values__read"] and values["tile__read_ready"]
        comes = source.words[values["values__read_index"]] if read else None
        await RisingEdge(dut.clk)
    assert min(reads, lanes_read) > 100
