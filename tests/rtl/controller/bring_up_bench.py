"""The Python driver's bring-up on the pins of a whole controller, with ONFI chips that check every time."""

from dataclasses import replace

import cocotb
from cocotb.task import bridge
from cocotb.triggers import Timer

from flashtrain.host.bringup import ChipMissing, bring_up
from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.spec.registers import Register
from tests.chip.onfi_chip import Facts, OnfiChip
from tests.rtl.controller.bench_link import BenchLink
from tests.rtl.controller.port_bench import Firmware
from tests.rtl.controller.port_config import CONFIG

assert bench_parameters()["nand_period_ns"] is None
ONE_DIE = replace(CONFIG, geometry=replace(CONFIG.geometry, dies=1))
"""The other sockets of the channels are empty."""
G = ONE_DIE.geometry
FACTS = Facts(
    page_bytes=G.page_bytes, spare_bytes=G.spare_bytes, pages=G.pages, blocks=G.blocks * G.planes,
    plane_bits=1,
)  # fmt: skip


@cocotb.test()
async def brings_up_one_chip_and_misses_another(dut):
    firmware = Firmware(dut)
    good = OnfiChip(FACTS, first_busy=60_000, page_busy=4_000)
    firmware.chips = [[good, OnfiChip(present=False)], [OnfiChip(present=False)] * 2]
    await firmware.start()
    mode = cocotb.start_soon(_follow_mode(firmware, good))
    first, second = await bridge(bring_up)(BenchLink(firmware.registers, ONE_DIE))
    mode.cancel()
    assert first.error is None and first.mode == 5
    assert [step.name for step in first.steps] == [
        "reset", "identity", "parameter page", "configuration", "timing mode",
    ]  # fmt: skip
    assert isinstance(second.error, ChipMissing)
    assert not good.unknown and not good.ignored
    assert good.features[1] == bytes([5, 0, 0, 0])
    assert await firmware.registers.read(Register.CONTROL) == 0
    assert await firmware.registers.read(Register.NAND_PAUSE_LOW) == 0
    # The engines have sent nothing: all that the chip got came from the driver.
    assert set(good.commands) == {0xFF, 0x90, 0xEC, 0xEE, 0xEF}


async def _follow_mode(firmware: Firmware, chip: OnfiChip) -> None:
    """The chip checks the times of its mode: from SET FEATURES on those of the new one."""
    while 1 not in chip.features:
        await Timer(50, "ns")
    firmware.pins[0].set_mode(chip.features[1][0])
