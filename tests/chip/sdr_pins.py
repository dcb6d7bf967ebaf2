"""Chips on the asynchronous pins of a channel: they check ONFI's times, latch cycles, and drive DQ.

A chip answers through `ChipLogic`, which knows commands; this file knows pins and nanoseconds alone.
"""

from collections.abc import Callable, Sequence
from typing import Protocol

import cocotb
from cocotb.triggers import First, ReadOnly, RisingEdge, ValueChange
from cocotb.utils import get_sim_time

from flashtrain.sim.bench.streams import PERIOD_NS
from tests.chip.sdr_times import LONGEST, MODES

PINS = ("ce_n", "cle", "ale", "we_n", "re_n", "dq_oe")
LONG_AGO = -(10**9)
FLOATING = 0xFF


class ChipLogic(Protocol):
    """A chip behind its pins; `now` is in nanoseconds."""

    def command(self, byte: int, now: float) -> None: ...
    def address(self, byte: int, now: float) -> None: ...
    def data_in(self, byte: int, now: float) -> None: ...
    def data_out(self, now: float) -> int: ...
    def ready(self, now: float) -> bool: ...


class Chip:
    """The pins of one chip, and the times since each of them changed."""

    def __init__(self, number: int, logic: ChipLogic, mode: int):
        self.number, self.logic, self.mode = number, logic, mode
        self.changed = dict.fromkeys((*PINS, "dq"), LONG_AGO)
        self.we_rose = self.re_fell = self.re_rose = self.deselected = LONG_AGO
        self.data_begin = LONG_AGO  # last address or command
        self.wrote = ""  # kind of the last write
        self.output = FLOATING


class SdrPins:
    """All chips of a channel, on pins `nand__...` that are `away` cycles from the controller and back.

    A byte from a chip is on DQ from tREA after RE_n has fallen until it rises; before and after that the pins
    have other bits. Times are counted in the clock of the NAND's interface, of `mhz`, which is `clk` of the
    bench and has there a period of `period_ns`.
    """

    def __init__(
        self,
        dut,
        logics: Sequence[ChipLogic],
        *,
        mhz: int,
        away: int,
        prefix: str = "nand__",
        clk: str = "clk",
        period_ns: float = PERIOD_NS,
    ):
        self.dut, self.mhz, self.away = dut, mhz, away
        self.clk, self.period_ns = getattr(dut, clk), period_ns
        self.pins = [getattr(dut, f"{prefix}{name}") for name in PINS]
        self.sdr, self.dq_o = getattr(dut, f"{prefix}sdr"), getattr(dut, f"{prefix}dq_o")
        self.dq_i, self.rb_n = getattr(dut, f"{prefix}dq_i"), getattr(dut, f"{prefix}rb_n")
        self.chips = [Chip(number, logic, 0) for number, logic in enumerate(logics)]
        self.writes = self.reads = 0
        self.careless = False  # cycles are cut by resets: no time is checked
        self.dq_i.value = FLOATING
        self.rb_n.value = (1 << len(logics)) - 1
        cocotb.start_soon(self._watch())
        cocotb.start_soon(self._show_ready())

    def set_mode(self, mode: int) -> None:
        """All chips keep to another timing mode from now on."""
        for chip in self.chips:
            chip.mode = mode

    def ns(self) -> float:
        return get_sim_time("ns") / self.period_ns * 1000 / self.mhz

    def cycles(self, ns: float) -> int:
        return -int(-ns * self.mhz // 1000)

    async def _show_ready(self) -> None:
        """R/B# of all chips, looked at every 16 cycles."""
        while True:
            for _ in range(16):
                await RisingEdge(self.clk)
            now = self.ns()
            self.rb_n.value = sum(chip.logic.ready(now) << chip.number for chip in self.chips)

    async def _watch(self) -> None:
        before = None
        while True:
            await First(*(ValueChange(pin) for pin in (*self.pins, self.sdr, self.dq_o)))
            await ReadOnly()
            if self.dut.rst.value == 1 or self.sdr.value == 0:
                before = None
                continue
            now = {name: int(pin.value) for name, pin in zip(PINS, self.pins, strict=True)}
            now["dq"] = int(self.dq_o.value) & 0xFF
            if before is not None:
                for chip in self.chips:
                    self._step(chip, self.ns(), before, now)
            before = now

    def _step(self, chip: Chip, t: float, before: dict[str, int], now: dict[str, int]) -> None:
        def since(moment: float, name: str) -> None:
            least = MODES[chip.mode][name]
            assert self.careless or t - moment >= least - 1e-6, (
                f"chip {chip.number}, mode {chip.mode}: {name} is {t - moment:.1f} ns; at least {least}"
            )

        def selected(levels: dict[str, int]) -> bool:
            return not levels["ce_n"] >> chip.number & 1

        if selected(before) != selected(now):
            assert now["we_n"] == now["re_n"] == 1, "a chip enable changes with a strobe low"
            if selected(now):
                since(chip.deselected, "tCEH")
            else:
                since(chip.we_rose, "tCH")
                chip.deselected = t
            chip.changed["ce_n"] = t
        held = {"cle": "tCLH", "ale": "tALH", "dq": "tDH", "dq_oe": "tDH"}
        for name, hold in held.items():
            if before[name] != now[name]:
                if selected(before):
                    since(chip.we_rose, hold)
                    assert self.careless or before["we_n"] or now["we_n"], f"{name} changes while WE_n is low"
                chip.changed[name] = t
        if selected(now) and selected(before):
            if before["we_n"] and not now["we_n"]:
                since(chip.we_rose, "tWH")
                since(chip.re_rose, "tRHW")
                chip.changed["we_n"] = t
            if not before["we_n"] and now["we_n"]:
                self._write(chip, t, now, since)
            if before["re_n"] and not now["re_n"]:
                self._begin_read(chip, t, now, since)
            if not before["re_n"] and now["re_n"]:
                since(chip.re_fell, "tRP")
                chip.re_rose = t
                self._drive_later(self.away, 0x5A ^ chip.output)

    def _write(self, chip: Chip, t: float, now: dict[str, int], since: Callable) -> None:
        if self.careless and not now["dq_oe"]:
            return  # the end of a cycle that a reset has cut
        assert now["re_n"] and now["dq_oe"] and not (now["cle"] and now["ale"])
        since(chip.changed["we_n"], "tWP")
        since(chip.we_rose, "tWC")
        setups = {"ce_n": "tCS", "cle": "tCLS", "ale": "tALS", "dq": "tDS", "dq_oe": "tDS"}
        for name, setup in setups.items():
            since(chip.changed[name], setup)
        self.writes += 1
        if now["cle"]:
            chip.logic.command(now["dq"], t)
            chip.wrote = "command"
        elif now["ale"]:
            chip.logic.address(now["dq"], t)
            chip.wrote = "address"
        else:
            if chip.wrote != "data":
                since(chip.we_rose, "tADL")
            chip.logic.data_in(now["dq"], t)
            chip.wrote = "data"
        chip.we_rose = t

    def _begin_read(self, chip: Chip, t: float, now: dict[str, int], since: Callable) -> None:
        assert now["we_n"] and not now["dq_oe"] and not now["cle"] and not now["ale"]
        longest = LONGEST[chip.mode]
        since(chip.we_rose, "tWHR")
        since(chip.re_rose, "tREH")
        since(chip.re_fell, "tRC")
        since(chip.changed["cle"], "tCLR")
        since(chip.changed["ale"], "tAR")
        self.reads += 1
        chip.re_fell = t
        chip.output = chip.logic.data_out(t)
        after = max(t + longest["tREA"], chip.changed["ce_n"] + longest["tCEA"]) - t
        self._drive_later(self.cycles(after) + self.away, chip.output)

    def _drive_later(self, cycles: int, byte: int) -> None:
        async def drive() -> None:
            for _ in range(cycles):
                await RisingEdge(self.clk)
            self.dq_i.value = byte

        cocotb.start_soon(drive())
