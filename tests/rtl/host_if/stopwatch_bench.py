"""The stopwatch against the bench's own clock: commands that begin and end in any order."""

import random
from collections import deque

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.rtl.host_if.counters import Latency
from flashtrain.rtl.host_if.stopwatch import Span
from flashtrain.sim.bench.streams import pack, start, unpack
from flashtrain.spec import preset

CONFIG = preset("tiny")


@cocotb.test()
async def every_command_is_measured(dut):
    await start(dut, span=0)
    begun: dict[int, int] = {}
    nothing = {"append": 0, "read": 0, "cycles": 0}
    due = deque([nothing, nothing])
    measured = 0
    for clock in range(2_000):
        free = [tag for tag in range(CONFIG.commands) if tag not in begun]
        action = random.choice(["begins", "ends", None])
        fields: dict[str, int] = {}
        ended = nothing
        if action == "begins" and free:
            tag = random.choice(free)
            begun[tag] = clock
            fields = {"begins": 1, "tag": tag}
        elif action == "ends" and begun:
            tag = random.choice(list(begun))
            kind = random.choice(["append", "read", None])
            fields = {"ends": 1, "tag": tag, **({kind: 1} if kind else {})}
            if kind:
                ended = {"append": 0, "read": 0, "cycles": clock - begun[tag], kind: 1}
                measured += 1
            del begun[tag]
        dut.span.value = pack(Span(CONFIG), **fields)
        await RisingEdge(dut.clk)
        expected = due.popleft()
        due.append(ended)
        latency = unpack(Latency(), int(dut.latency.value)) if clock > 2 else expected
        assert (latency["append"], latency["read"]) == (expected["append"], expected["read"])
        if expected["append"] or expected["read"]:
            assert latency["cycles"] == expected["cycles"]
    assert measured > 100
