"""The host's side of the register port."""

import logging

from cocotbext.axi import AxiLiteBus, AxiLiteMaster, AxiResp

from flashtrain.spec.registers import (
    ChannelCounter,
    Counter,
    Register,
    channel_counter_register,
    counter_register,
)


class RegisterAccessError(AssertionError):
    """A register access was answered with an error, or with success where an error was expected."""


class Registers:
    """Reads and writes registers over AXI4-Lite, one access at a time or several at once."""

    def __init__(self, dut):
        self.master = AxiLiteMaster(AxiLiteBus.from_prefix(dut, "registers_"), dut.clk, dut.rst)
        for side in (self.master.write_if, self.master.read_if):
            side.log.setLevel(logging.ERROR)

    async def write(self, address: int, value: int, *, refused: bool = False) -> None:
        """Write, and check that it is done, or answered with an error if it is to be `refused`."""
        answer = await self.master.write(address, value.to_bytes(4, "little"))
        self._check(f"write of {value:#x} to register {address:#06x}", answer.resp, refused)

    async def read(self, address: int, *, refused: bool = False) -> int:
        answer = await self.master.read(address, 4)
        self._check(f"read of register {address:#06x}", answer.resp, refused)
        return int.from_bytes(answer.data, "little")

    async def read_long(self, address: int) -> int:
        """A counter: its low half first, which holds the high one."""
        low = await self.read(address)
        return low | await self.read(address + 4) << 32

    async def counter(self, counter: Counter) -> int:
        return await self.read_long(counter_register(counter))

    async def channel_counter(self, channel: int, counter: ChannelCounter) -> int:
        await self.write(Register.CHANNEL_SELECT, channel)
        return await self.read_long(channel_counter_register(counter))

    def _check(self, what: str, answer: AxiResp, refused: bool) -> None:
        if (answer != AxiResp.OKAY) != refused:
            expected = "an error" if refused else "success"
            raise RegisterAccessError(f"{what} was answered with {answer.name}; expected {expected}")
