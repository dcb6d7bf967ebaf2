"""A host, firmware, the whole drive and its dies: what is appended is read back."""

import cocotb

from flashtrain.sim.bench.parameters import bench_parameters
from tests.rtl.pcie.drive_host import Drive, use_drive

COMMANDS = bench_parameters()["commands"]


@cocotb.test()
async def a_host_has_its_data_back(dut):
    bench = Drive(dut, latency=30)
    await bench.start()
    await use_drive(bench, COMMANDS)
    assert dut.violations.value == 0
