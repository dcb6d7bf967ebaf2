"""Bytes appended and read in a cycle of the NAND's clock, with work for all channels."""

import json
from pathlib import Path

import cocotb

from flashtrain.sim.bench.environment import clock
from flashtrain.sim.bench.streams import PERIOD_NS
from flashtrain.spec import Opcode, Port, Status
from tests.rtl.controller.fms_config import ONE_STREAM
from tests.rtl.controller.fms_helpers import CAPACITY, GEOMETRY, NAND_PERIODS_PS, PAGE, RATES, begin

ZONES = 2
BLOCKS = 2 * GEOMETRY.channels * GEOMETRY.planes
"""Of a command: it ends a page set of each die."""


@cocotb.test()
async def pages_in_a_row(dut):
    env = await begin(dut, node=ONE_STREAM)
    period_ns = NAND_PERIODS_PS[0] / 1000 if NAND_PERIODS_PS else PERIOD_NS
    rates = {}
    for opcode in (Opcode.ZONE_APPEND, Opcode.READ):
        began = clock()
        for zone in range(ZONES):
            for offset in range(0, CAPACITY, BLOCKS):
                place = {"offset": offset} if opcode == Opcode.READ else {}
                env.submit(Port.CORE, opcode, 1, zone=zone, blocks=BLOCKS, status=Status.SUCCESS, **place)
        await env.drain()
        cycles = (clock() - began) * PERIOD_NS / period_ns
        rates[opcode.name] = ZONES * CAPACITY * PAGE / cycles
    await env.finish()
    Path(RATES).write_text(json.dumps(rates), encoding="utf-8")
