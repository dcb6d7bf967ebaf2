"""An erase goes to all channels, and is over when all have answered."""

import random

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.zones.erase_broadcast import EraseRequest, EraseResult
from flashtrain.spec import preset
from tests.rtl.zones.zone_helpers import Sink, Source, clock_number, cycles, pack, reset

CONFIG = preset("tiny")
CHANNELS = CONFIG.geometry.channels


@cocotb.test()
async def all_channels_erase(dut):
    requests = Source(dut, "request", idle=0.2)
    asked: list[list[int]] = [[] for _ in range(CHANNELS)]
    answers = [Source(dut, f"erased__{n}") for n in range(CHANNELS)]
    failures: list[set[int]] = [set() for _ in range(CHANNELS)]  # numbers of the requests
    done: list[tuple[int, bool]] = []

    def answer(channel: int, request) -> None:
        number = len(asked[channel])
        asked[channel].append(request.zone)
        cocotb.start_soon(later(channel, int(number in failures[channel])))

    async def later(channel: int, failed: int) -> None:
        await cycles(dut, random.randint(1, 10))
        answers[channel].send(pack(EraseResult(), failed=failed))

    def finished(result) -> None:
        number = len(done)
        assert all(len(zones) == number + 1 for zones in asked), "done before every channel was asked"
        assert all(source.empty for source in answers), "done before every channel has answered"
        done.append((clock_number(), bool(result.failed)))

    for channel in range(CHANNELS):
        Sink(
            dut,
            f"erase__{channel}",
            EraseRequest(CONFIG),
            lambda r, n=channel: answer(n, r),
            0.3 + 0.6 * channel,
        )
    Sink(dut, "done", EraseResult(), finished, 0.5)
    await reset(dut)
    zones = [random.randrange(CONFIG.geometry.zones) for _ in range(60)]
    for number, zone in enumerate(zones):
        for failing in failures:
            if random.random() < 0.2:
                failing.add(number)
        requests.send(pack(EraseRequest(CONFIG), zone=zone))
    for _ in range(10_000):
        await RisingEdge(dut.clk)
        if len(done) == len(zones):
            break
    assert asked == [zones] * CHANNELS
    assert [failed for _, failed in done] == [any(n in f for f in failures) for n in range(len(zones))]
    assert any(failed for _, failed in done) and not all(failed for _, failed in done)


@cocotb.test()
async def latency(dut):
    request = Source(dut, "request")
    asked, done = [], []
    answers = [Source(dut, f"erased__{n}") for n in range(CHANNELS)]
    for channel in range(CHANNELS):
        Sink(dut, f"erase__{channel}", EraseRequest(CONFIG), lambda _: asked.append(clock_number()))
    Sink(dut, "done", EraseResult(), lambda _: done.append(clock_number()))
    await reset(dut)
    request.send(pack(EraseRequest(CONFIG), zone=3))
    await cycles(dut, 6)
    assert asked == [request.offered_at[0] + 2] * CHANNELS
    for source in answers:
        source.send(0)
        await cycles(dut, 5)
    assert done == [answers[-1].offered_at[0] + 3]
