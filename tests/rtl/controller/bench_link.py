"""A Link to the registers of a controller in a cocotb bench, for a driver in a thread of its own."""

import numpy as np
from cocotb.task import resume
from cocotb.triggers import Timer

from flashtrain.host import Link, RegisterError
from flashtrain.sim.bench.registers import RegisterAccessError, Registers
from flashtrain.sim.bench.streams import PERIOD_NS
from flashtrain.spec import FmsConfig


class BenchLink(Link):
    """Registers of the simulated controller, for a thread beside the simulator."""

    def __init__(self, registers: Registers, config: FmsConfig):
        self._config = config
        self._read = resume(registers.read)
        self._write = resume(registers.write)
        self._cycles = 0
        self._memory = np.zeros(1 << 16, np.uint8)

    @property
    def config(self) -> FmsConfig:
        return self._config

    @property
    def memory(self) -> np.ndarray:
        return self._memory

    def read_register(self, address: int) -> int:
        try:
            return self._read(address)
        except RegisterAccessError as error:
            raise RegisterError(str(error)) from error

    def write_register(self, address: int, value: int) -> None:
        try:
            self._write(address, value)
        except RegisterAccessError as error:
            raise RegisterError(str(error)) from error

    def run(self, cycles: int) -> None:
        self._cycles += cycles
        resume(_pass)(cycles)

    def wait(self, max_cycles: int | None = None) -> bool:
        return False

    @property
    def cycles(self) -> int:
        return self._cycles

    def close(self) -> None:
        pass


async def _pass(cycles: int) -> None:
    await Timer(cycles * PERIOD_NS, "ns")
