"""Writers that share a port: whole bursts, fair turns, and answers to whom they belong."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.lib.axi import burst_layout, write_beat_layout
from flashtrain.rtl.lib.write_mux import BURSTS_OUTSTANDING
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.sim.bench.streams import StreamSink, StreamSource, pack, start, unpack

WRITERS = bench_parameters()["writers"]
ADDRESS_BITS = bench_parameters()["address_bits"]
PARTS = bench_parameters()["parts"]
SERIALS = 120 // WRITERS
BURST, BEAT = burst_layout(ADDRESS_BITS), write_beat_layout(64, PARTS)


class Bench:
    def __init__(self, dut, busy: float = 1):
        self.dut = dut
        self.bursts = [StreamSource(dut, f"writers__{n}__aw", busy) for n in range(WRITERS)]
        self.beats = [StreamSource(dut, f"writers__{n}__w", busy) for n in range(WRITERS)]
        self.answers = [StreamSink(dut, f"writers__{n}__b", busy) for n in range(WRITERS)]
        self.aw = StreamSink(dut, "axi__aw", busy)
        self.w = StreamSink(dut, "axi__w", busy)
        self.b = StreamSource(dut, "axi__b", busy)

    def send(self, writer: int, serial: int, beats: int) -> None:
        """A burst whose address and data tell whose it is."""
        self.bursts[writer].send(pack(BURST, address=serial << 8 | writer, length=beats - 1))
        for number in range(beats):
            word = serial << 16 | writer << 8 | number
            self.beats[writer].send(pack(BEAT, data=word, last=number == beats - 1, masked=mask_of(word)))


def mask_of(word: int) -> int:
    return word * 0x9E3779B1 >> 16 & (1 << PARTS) - 1


@cocotb.test()
@cocotb.parametrize(busy=[1, 0.5])
async def bursts_stay_whole_and_answers_find_their_writers(dut, busy):
    bench = Bench(dut, busy)
    await start(dut)
    lengths = [[random.randint(1, 8) for _ in range(SERIALS)] for _ in range(WRITERS)]
    for writer in range(WRITERS):
        for serial, beats in enumerate(lengths[writer]):
            bench.send(writer, serial, beats)
    expected_beats, expected_errors = [], [[] for _ in range(WRITERS)]
    served = [0] * WRITERS
    for number in range(SERIALS * WRITERS):
        burst = unpack(BURST, (await bench.aw.wait_for(number + 1))[number])
        serial, writer = burst["address"] >> 8, burst["address"] & 0xFF
        assert serial == served[writer], "bursts of one writer changed places"
        served[writer] += 1
        beats = burst["length"] + 1
        assert beats == lengths[writer][serial]
        expected_beats += [(serial << 16 | writer << 8 | n, int(n == beats - 1)) for n in range(beats)]
        words = [unpack(BEAT, bits) for bits in await bench.w.wait_for(len(expected_beats))]
        assert [(word["data"], word["last"]) for word in words] == expected_beats
        assert all(word["masked"] == mask_of(word["data"]) for word in words)
        error = random.randrange(2)
        expected_errors[writer].append(error)
        bench.b.send(error)
    for writer in range(WRITERS):
        assert await bench.answers[writer].wait_for(SERIALS) == expected_errors[writer]


@cocotb.test()
async def turns_are_fair_and_leave_no_gap(dut):
    bench = Bench(dut)
    await start(dut)
    turns = min(10, (BURSTS_OUTSTANDING - 2) // WRITERS)
    for serial in range(turns):
        for writer in range(WRITERS):
            bench.send(writer, serial, 2)
    await bench.w.wait_for(2 * turns * WRITERS)
    owners = [unpack(BURST, bits)["address"] & 0xFF for bits in bench.aw.items]
    for turn in range(turns):
        assert sorted(owners[turn * WRITERS : (turn + 1) * WRITERS]) == list(range(WRITERS))
    assert bench.w.cycles[-1] - bench.w.cycles[0] == 2 * turns * WRITERS - 1


@cocotb.test()
async def beats_wait_for_their_burst(dut):
    bench = Bench(dut)
    await start(dut)
    bench.beats[0].send(pack(BEAT, data=7, last=1))
    for _ in range(5):
        await RisingEdge(dut.clk)
        assert dut.axi__w__valid.value == 0
    bench.bursts[0].send(pack(BURST, address=8, length=0))
    assert await bench.w.wait_for(1) == [pack(BEAT, data=7, last=1)]
