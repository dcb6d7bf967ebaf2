"""A Link to a controller in a cocotb bench, for a driver in a thread of its own."""

import numpy as np
from cocotb.task import resume
from cocotb.triggers import Timer

from flashtrain.host import Link, RegisterError
from flashtrain.host.errors import DeviceHang
from flashtrain.sim.bench.registers import RegisterAccessError, Registers
from flashtrain.sim.bench.streams import PERIOD_NS
from flashtrain.sim.bench.tensor_buffer import TensorBuffer
from flashtrain.spec import FmsConfig
from flashtrain.spec.registers import Register, State

LOOK_CYCLES = 100
"""Between two looks at the interrupt."""
MOST_CYCLES = 2_000_000


class BenchLink(Link):
    """Registers of the simulated controller, and its tensor buffer, for a thread beside the simulator.

    Without a buffer the device reaches no memory, and `wait` waits for nothing.
    """

    def __init__(
        self,
        registers: Registers,
        config: FmsConfig,
        *,
        buffer: TensorBuffer | None = None,
        irq=None,
        period_ns: int = PERIOD_NS,
    ):
        self._config = config
        self._read = resume(registers.read)
        self._write = resume(registers.write)
        self._pass = resume(_pass)
        self._cycles = 0
        self._irq = irq
        self._period_ns = period_ns
        self._memory = np.zeros(1 << 16, np.uint8) if buffer is None else buffer.bytes
        if buffer is not None:
            buffer.grant(range(buffer.size), read=True, write=True)

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
        self._pass(cycles * self._period_ns)

    def wait(self, max_cycles: int | None = None) -> bool:
        if self._irq is None:
            return False
        most = MOST_CYCLES if max_cycles is None else max_cycles
        for _ in range(0, most, LOOK_CYCLES):
            if int(self._irq.value):
                return True
            if self.read_register(Register.STATE) & State.IDLE:
                return bool(int(self._irq.value))
            self.run(LOOK_CYCLES)
        raise DeviceHang(f"no interrupt within {most:,} cycles")

    @property
    def cycles(self) -> int:
        return self._cycles

    def close(self) -> None:
        pass


async def _pass(ns: int) -> None:
    await Timer(ns, "ns")
