"""The read lookup; write buffer, dies and read buffer answer at random times."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.channel.read_buffer.read_buffer import HitPage
from flashtrain.rtl.layouts import BufferPage, DieRead, PageTarget, ReadPage
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack
from tests.rtl.channel.channel_helpers import CONFIGS

CONFIG = CONFIGS[bench_parameters()["config"]]
GEOMETRY = CONFIG.geometry
COUNT = 120


class Bench:
    """Pages are numbered by where they go; `hits` says which the write buffer has, and in which slot.

    Statistics are asked for as pages that the write buffer would have: it must not be asked.
    """

    def __init__(self, dut, busy: float):
        self.dut = dut
        self.pages = StreamSource(dut, "pages", busy)
        self.hits = StreamSink(dut, "hits", busy)
        self.dies = [StreamSink(dut, f"reads__{die}", busy) for die in range(GEOMETRY.dies)]
        self.asked: list[dict[str, int]] = []
        self.looked_up: list[int] = []
        self.slots: dict[int, int] = {}
        self.busy = busy
        dut.lookup__ready.value = dut.hit.value = dut.hit_slot.value = 0
        cocotb.start_soon(self._answer())

    def read(self, hit: bool, die: int | None = None, statistics: bool = False) -> dict[str, int]:
        number = len(self.asked)
        fields = {
            "zone": random.randrange(GEOMETRY.zones),
            "page": random.randrange(GEOMETRY.pages),
            "die": random.randrange(GEOMETRY.dies) if die is None else die,
            "plane": random.randrange(GEOMETRY.planes),
            "statistics": int(statistics),
            "tag": number % CONFIG.commands,
            "buffer_block": number,
        }
        self.asked.append(fields)
        if not statistics:
            self.looked_up.append(number)
        if hit and not statistics:
            self.slots[number] = random.randrange(CONFIG.write_sets)
        self.pages.send(pack(ReadPage(CONFIG), **fields))
        return fields

    async def _answer(self):
        dut, answered = self.dut, 0
        while True:
            await RisingEdge(dut.clk)
            if dut.rst.value == 1 or dut.lookup__valid.value != 1 or random.random() >= self.busy:
                continue
            slot = self.slots.get(self.looked_up[answered])
            answered += 1
            dut.hit.value = int(slot is not None)
            dut.hit_slot.value = slot or 0
            dut.lookup__ready.value = 1
            await RisingEdge(dut.clk)
            dut.lookup__ready.value = dut.hit.value = 0


@cocotb.test()
async def pages_go_where_they_belong(dut):
    bench = Bench(dut, busy=0.4)
    await start(dut)
    for _ in range(COUNT):
        bench.read(hit=random.random() < 0.4, statistics=random.random() < 0.2)
    expected = [fields for fields in bench.asked if fields["buffer_block"] in bench.slots]
    layout = HitPage(CONFIG)
    for fields, got in zip(expected, await bench.hits.wait_for(len(expected)), strict=True):
        parts = unpack(layout, got)
        slot = bench.slots[fields["buffer_block"]]
        assert parts["place"] == pack(BufferPage(CONFIG), slot=slot, plane=fields["plane"])
        assert parts["target"] == pack(
            PageTarget(CONFIG), tag=fields["tag"], buffer_block=fields["buffer_block"]
        )
    for die, sink in enumerate(bench.dies):
        expected = [
            one for one in bench.asked if one["buffer_block"] not in bench.slots and one["die"] == die
        ]
        for fields, got in zip(expected, await sink.wait_for(len(expected)), strict=True):
            assert unpack(DieRead(CONFIG), got) == {name: fields[name] for name in DieRead(CONFIG).members}
    for _ in range(5):
        await RisingEdge(dut.clk)
    assert dut.busy.value == 0


@cocotb.test()
async def a_full_queue_holds_up_and_loses_nothing(dut):
    """The queue of a die takes `read_queue` pages; what is behind waits and comes through afterwards."""
    bench = Bench(dut, busy=1)
    await start(dut)
    bench.dies[0].busy = 0
    for _ in range(CONFIG.read_queue + 3):
        bench.read(hit=False, die=0)
    last = bench.read(hit=True)
    for _ in range(20 * CONFIG.read_queue + 100):
        await RisingEdge(dut.clk)
    assert not bench.hits.items and bench.pages.sent >= CONFIG.read_queue
    bench.dies[0].busy = 1
    await bench.dies[0].wait_for(CONFIG.read_queue + 3)
    (hit,) = await bench.hits.wait_for(1)
    assert unpack(HitPage(CONFIG), hit)["target"] == pack(
        PageTarget(CONFIG), tag=last["tag"], buffer_block=last["buffer_block"]
    )
