"""cocotb tests of a PHY: each view is that of the other side two cycles before."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge, Timer

PERIOD_PS = 2000
LATENCY = 2
CONTROLS = ("ce_n", "cle", "ale", "we", "dqs_o", "re")


def host_cycle(busy: float) -> dict[str, int]:
    """A random cycle of the controller: a command or address byte, or a beat to or from the dies."""
    view = {"ce_n": random.randrange(4), "dq_o": random.getrandbits(16)}
    view |= dict.fromkeys(("cle", "ale", "we", "dqs_o", "re"), 0)
    if random.random() < busy:
        kind = random.choice(("cle", "ale", "dqs_o", "re"))
        view[kind] = 1
        view["we"] = int(kind in ("cle", "ale"))
    return view


def die_cycle(busy: float) -> dict[str, int]:
    return {"dqs_i": int(random.random() < busy), "dq_i": random.getrandbits(16), "rb_n": random.randrange(4)}


def drive(dut, side: str, view: dict[str, int]) -> None:
    for name, value in view.items():
        getattr(dut, f"{side}_{name}").value = value


async def start(dut) -> None:
    drive(dut, "host", host_cycle(0) | {"ce_n": 3})
    drive(dut, "die", die_cycle(0))
    dut.rst.value = 1
    dut.clk90.value = 0
    dut.clk.value = 0
    await Timer(PERIOD_PS, "ps")
    Clock(dut.clk, PERIOD_PS, "ps").start()
    await Timer(PERIOD_PS // 4, "ps")
    Clock(dut.clk90, PERIOD_PS, "ps").start()
    for _ in range(5):
        await RisingEdge(dut.clk)
    dut.rst.value = 0
    await RisingEdge(dut.clk)


@cocotb.test()
@cocotb.parametrize(busy=[0.3, 1.0])
async def each_view_follows_the_other(dut, busy):
    await start(dut)
    sent_in, sent_out = [], []
    before = int(dut.bytes_in.value), int(dut.bytes_out.value)
    for cycle in range(500):
        to_dies, from_dies = host_cycle(busy), die_cycle(busy)
        drive(dut, "host", to_dies)
        drive(dut, "die", from_dies)
        sent_in.append(to_dies)
        sent_out.append(from_dies)
        await RisingEdge(dut.clk)
        if cycle < LATENCY:
            continue
        # Values are those from before this edge, at which the view of this cycle is taken.
        expected, back = sent_in[cycle - LATENCY], sent_out[cycle - LATENCY]
        seen = {name: int(getattr(dut, f"die_{name}").value) for name in CONTROLS}
        assert seen == {name: expected[name] for name in CONTROLS}, cycle
        if expected["dqs_o"]:
            assert int(dut.die_dq_o.value) == expected["dq_o"], cycle
        if expected["we"]:
            assert int(dut.die_dq_o.value) & 0xFF == expected["dq_o"] & 0xFF, cycle
        assert dut.host_dqs_i.value == back["dqs_i"], cycle
        if back["dqs_i"]:
            assert int(dut.host_dq_i.value) == back["dq_i"], cycle
        assert dut.host_rb_n.value == back["rb_n"], cycle
    drive(dut, "host", host_cycle(0))
    drive(dut, "die", die_cycle(0))
    for _ in range(4):
        await RisingEdge(dut.clk)
    # A byte for each edge of the strobe.
    assert int(dut.bytes_in.value) - before[0] == 2 * sum(view["dqs_o"] for view in sent_in)
    assert int(dut.bytes_out.value) - before[1] == 2 * sum(view["dqs_i"] for view in sent_out)
