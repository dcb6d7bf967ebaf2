"""The RTL Link: the controller and its dies in Verilator, called in-process.

Python is called only at register accesses and at the end of a wait; the clock loop, the tensor buffer's AXI
side and the dies' storage are C++ (`device/`).
"""

import ctypes
from dataclasses import dataclass
from enum import IntEnum
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from flashtrain.host.arguments import seconds_of, whole
from flashtrain.host.errors import DeviceHang, RegisterError
from flashtrain.host.image import FlashImage
from flashtrain.host.link import AFTER_POWER_CYCLE, LINKS, Link
from flashtrain.sim.link.device_library import DeviceLibrary
from flashtrain.sim.link.library import build_library
from flashtrain.sim.link.recording import (
    ARRAY_PAGE,
    MOST_RECORDS,
    NEVER,
    SEAM_RECORD,
    TRACE_RECORD,
    RtlRecording,
)
from flashtrain.sim.nand.errors import CUT_RECORD, FLIP_RECORD, ErrorModel, PagePlace, model_record
from flashtrain.sim.nand.errors.model import LEVELS
from flashtrain.sim.nand.image_format import image_format
from flashtrain.spec import FlashtrainError, FmsConfig
from flashtrain.spec.bad_blocks import mark_content, marked_pages
from flashtrain.spec.errors import require, require_range
from flashtrain.spec.registers import Register, State


class ProtocolViolation(FlashtrainError):
    """The NAND model or the checker on the pins refused what the controller did; names time, die and rule."""


@dataclass(frozen=True)
class MemoryTiming:
    """The tensor buffer behind the controller's AXI ports.

    - latency: cycles from a burst's address to its first beat, and from the last beat of a write to its
      answer. An assumption: 60 cycles are 100 ns at 600 MHz, a DDR4 access.
    - gigabytes_per_second: of both ports together; None: the rate of the ports.
    """

    latency: int = 60
    gigabytes_per_second: float | None = None

    def __post_init__(self) -> None:
        require_range("memory.latency", self.latency, 1, 100_000)
        require(self.gigabytes_per_second is None or self.gigabytes_per_second > 0,
                "memory.gigabytes_per_second", self.gigabytes_per_second,
                "a positive number or None")  # fmt: skip

    def bytes_per_65536_cycles(self, clock_hz: float) -> int:
        if self.gigabytes_per_second is None:
            return 0
        return max(1, round(self.gigabytes_per_second * 1e9 / clock_hz * 65536))


class _Stop(IntEnum):
    LIMIT = 0
    INTERRUPT = 1
    VIOLATION = 2


class _Access(IntEnum):
    DONE = 0
    ERROR = 1
    TIMEOUT = 2


PIN_CHANGE = np.dtype([("clock", np.uint64), ("pin", np.uint64), ("value", np.uint64)])
"""A pin (a number in `pins.pin_names`) has another value from this cycle on; of wide ones a digest."""

DEFAULT_MEMORY_BYTES = 64 << 20
MOST_CYCLES_TO_WAIT = 100_000_000  # cycles without an interrupt after which `wait` gives up
CYCLES_BETWEEN_POLLS = 100_000  # after so many without an interrupt `wait` looks whether the device is idle


class RtlLink(Link):
    """A simulated device, exact in data and in clock cycles.

    Parameters
    ----------
    config
        Configuration of the hardware. Its library is built at first use and cached.
    memory_bytes
        Size of the tensor buffer; a multiple of 4096.
    timing
        Of the tensor buffer.
    trace
        Record events from the start (see :meth:`take_trace`).
    """

    def __init__(
        self,
        config: FmsConfig,
        memory_bytes: int = DEFAULT_MEMORY_BYTES,
        timing: MemoryTiming | None = None,
        trace: bool = False,
    ) -> None:
        require(memory_bytes > 0 and memory_bytes % 4096 == 0, "memory_bytes", memory_bytes,
                "a positive multiple of 4096")  # fmt: skip
        self._config = config
        # Page aligned, so that no beat of the data port straddles what the caller sees as one block.
        store = np.zeros(memory_bytes + 4096, np.uint8)
        offset = -store.ctypes.data % 4096
        self._memory: NDArray[np.uint8] = store[offset : offset + memory_bytes]
        self._library = DeviceLibrary(self._build(config))
        timing = timing or MemoryTiming()
        self._library.open(
            self._memory.ctypes.data, memory_bytes, timing.latency,
            timing.bytes_per_65536_cycles(config.timing.clock_hz),
        )  # fmt: skip
        self._seconds = 0.0
        self._image: FlashImage | None = None
        self._library.set_tracing(trace)

    def _build(self, config: FmsConfig) -> Path:
        return build_library(config)

    @property
    def config(self) -> FmsConfig:
        return self._config

    @property
    def memory(self) -> NDArray[np.uint8]:
        return self._memory

    @property
    def cycles(self) -> int:
        return self._library.cycles()

    def read_register(self, address: int) -> int:
        value = ctypes.c_uint32()
        result = self._library.read_register(address, ctypes.byref(value))
        self._check_access(result, "read", address)
        return value.value

    def write_register(self, address: int, value: int) -> None:
        self._check_access(self._library.write_register(address, value), "write", address)

    def wait(self, max_cycles: int | None = None) -> bool:
        left = MOST_CYCLES_TO_WAIT if max_cycles is None else whole("max_cycles", max_cycles)
        while True:
            stop = self._run(min(left, CYCLES_BETWEEN_POLLS))
            if stop is _Stop.INTERRUPT:
                return True
            if self.read_register(Register.STATE) & State.IDLE:
                return False
            left -= CYCLES_BETWEEN_POLLS
            if left <= 0:
                limit = MOST_CYCLES_TO_WAIT if max_cycles is None else max_cycles
                raise DeviceHang(f"no completion within {limit} cycles (now at cycle {self.cycles})")

    def run(self, cycles: int) -> None:
        end = self.cycles + whole("cycles", cycles)
        while self.cycles < end:
            self._library.clock(end - self.cycles)
            self._check_violations()
        self._keep_time()

    @property
    def image(self) -> FlashImage | None:
        return self._image

    def use_image(self, image: FlashImage) -> None:
        self._library.array_use_image(ctypes.byref(image_format(image, self._config)))
        self._image = image
        self._seconds = image.clock
        self._check_violations()

    def power_cycle(self) -> None:
        self._library.power_cycle()
        self._check_violations()
        self._memory[:] = AFTER_POWER_CYCLE

    def raw_page(self, channel: int, die: int, plane: int, block: int, page: int) -> bytes | None:
        """The content of a page's cells, spare bytes included, read without the controller.

        None: the page was not programmed since its block was erased.
        """
        content = ctypes.create_string_buffer(self._config.geometry.raw_page_bytes)
        kept = self._library.array_page(channel, die, plane, block, page, content)
        return content.raw if kept else None

    def raw_pages(self) -> dict[PagePlace, bytes]:
        """`raw_page` of all pages that were programmed since their block was erased, by their places."""
        g = self._config.geometry
        erases = self.erase_counts()
        places = product(range(g.channels), range(g.dies), range(g.planes), range(g.blocks), range(g.pages))
        pages = ((place, self.raw_page(*place)) for place in places)
        return {PagePlace(*place, int(erases[place[:4]])): page for place, page in pages if page is not None}

    def put_raw_page(self, channel: int, die: int, plane: int, block: int, page: int, content: bytes) -> None:
        """Replace the cells of a page, which was programmed since its block was erased."""
        size = self._config.geometry.raw_page_bytes
        require(len(content) == size, "len(content)", len(content), f"the {size} bytes of a page")
        kept = self._library.array_put_page(channel, die, plane, block, page, content)
        require(kept, "page", page, "a page that was programmed")

    def erase_counts(self) -> NDArray[np.uint32]:
        """The erases of each block, as its array counts them: uint32[channels, dies, planes, blocks]."""
        g = self._config.geometry
        counts = np.zeros((g.channels, g.dies, g.planes, g.blocks), np.uint32)
        for channel, die in np.ndindex(g.channels, g.dies):
            self._library.array_erases(channel, die, g.blocks, counts[channel, die].ctypes.data)
        return counts

    def break_block(self, channel: int, die: int, plane: int, block: int) -> None:
        """Let programs and erases of a block fail from now on."""
        self._library.array_add_fault(channel, die, plane, block)

    def mark_block(
        self, channel: int, die: int, plane: int, block: int, page: int = 0, whole: bool = True
    ) -> None:
        """This block is bad from the factory: marked in its first or last page, in all of that or in a byte.

        It works as others do; but a program or an erase of it is a :class:`ProtocolViolation`. To be called
        before anything is in the flash.
        """
        g = self._config.geometry
        require(page in marked_pages(g.pages), "page", page, f"one of {marked_pages(g.pages)}")
        content = mark_content(g, whole)
        self._library.array_mark(channel, die, plane, block, page, content, len(content))

    def hang_die(self, channel: int, die: int) -> None:
        """Let nothing that the array of a die begins from now on end.

        A reset of the die and a loss of power cut it short, and what comes next hangs as well.
        """
        self._library.array_hang(channel, die)

    def mend_dies(self) -> None:
        """End the faults of :meth:`break_block` and :meth:`hang_die`, and hangs of the model of errors.

        Operations under way keep theirs.
        """
        self._library.array_clear_faults()

    def set_errors(self, model: ErrorModel | None, keep: bool = False) -> None:
        """Let cells and operations fail as the model says from now on; without a model they do not.

        The cells keep their content, and dies that hang stay so. keep: remember all wrong bits for
        :meth:`take_flips`.
        """
        record = ctypes.byref(model_record(model)) if model else None
        self._library.array_set_errors(record, keep)

    @property
    def seconds(self) -> int:
        """The seconds that :meth:`pass_time` has added, and the simulated ones."""
        return int(self.fine_seconds)

    @property
    def fine_seconds(self) -> float:
        return self._seconds + self.cycles / self._config.timing.clock_hz

    def _keep_time(self) -> None:
        if self._image is not None:
            self._image.keep_time(self.fine_seconds)

    def pass_time(self, seconds: float) -> None:
        """Add `seconds` to the age of all programmed data. Simulated cycles add nothing.

        The controller's clock (register TIME) is set forward.
        """
        seconds = seconds_of("seconds", seconds)
        self._library.array_pass_time(seconds)
        before = self.seconds
        self._seconds += seconds
        self._keep_time()
        now = self.read_register(Register.TIME) + self.seconds - before
        self.write_register(Register.TIME, now % (1 << 32))

    def set_read_level(self, channel: int, die: int, level: int) -> None:
        """Lower the level of a die's senses by so many steps from now on (`ErrorModel.level_factor`).

        The steps that its controller asks for come on top.
        """
        require_range("level", level, LEVELS[0], LEVELS[-1])
        self._library.array_set_level(channel, die, level)

    def flipped_bits(self) -> NDArray[np.uint64]:
        """The bits that the senses of each die got wrong: uint64[channels, dies].

        The bits of whole pages count, whether or not anybody fetched them.
        """
        g = self._config.geometry
        flipped = np.zeros((g.channels, g.dies), np.uint64)
        for channel, die in np.ndindex(g.channels, g.dies):
            flipped[channel, die] = self._library.array_flipped(channel, die)
        return flipped

    def take_flips(self) -> NDArray[np.void]:
        """The wrong bits since the last call, in the order of senses; dtype :data:`FLIP_RECORD`."""
        records = np.empty(self._library.array_flips(), FLIP_RECORD)
        self._library.array_take_flips(records.ctypes.data)
        return records

    def take_cuts(self) -> NDArray[np.void]:
        """Programs and erases that were cut short since the last call, a record per plane; dtype
        :data:`CUT_RECORD`."""
        records = np.empty(self._library.array_cuts(), CUT_RECORD)
        self._library.array_take_cuts(records.ctypes.data)
        return records

    def take_trace(self) -> NDArray[np.void]:
        """The records since the last call, in order of their end; dtype :data:`TRACE_RECORD`."""
        records = np.empty(self._library.trace_records(), TRACE_RECORD)
        self._library.take_trace(records.ctypes.data)
        return records

    def start_recording(self, begin: int = 0, end: int | None = None, most: int = MOST_RECORDS) -> None:
        """Record from cycle `begin` (or now, if that has passed) to before `end`, `most` records of events.

        A recording takes no simulated time, and no record from :meth:`take_trace`.
        """
        self._library.record(begin, NEVER if end is None else end, most)

    def stop_recording(self) -> RtlRecording:
        """Stop; all that was recorded."""
        self._library.stop_recording()
        facts = np.zeros(5, np.uint64)
        self._library.recorded(facts.ctypes.data)
        records, seams, began, ended, full = facts.tolist()
        events, crossed = np.empty(records, TRACE_RECORD), np.empty(seams, SEAM_RECORD)
        self._library.take_recording(events.ctypes.data, crossed.ctypes.data)
        pages = np.empty(self._library.array_logged(), ARRAY_PAGE)
        self._library.array_take_log(pages.ctypes.data)
        return RtlRecording(events, crossed, pages, None if began == NEVER else (began, ended), bool(full))

    def log_pins(self, on: bool) -> None:
        """Log from now on how pins change (see :meth:`take_pin_changes`)."""
        self._library.log_pins(on)

    def take_pin_changes(self) -> NDArray[np.void]:
        """The changes of pins since the last call; dtype :data:`PIN_CHANGE`."""
        changes = np.empty(self._library.pin_changes(), PIN_CHANGE)
        self._library.take_pin_changes(changes.ctypes.data)
        return changes

    def set_tracing(self, on: bool) -> None:
        self._library.set_tracing(on)

    def adopt(self) -> None:
        super().adopt()
        self._library.own = True

    def close(self) -> None:
        if not self.own:
            return
        image, self._image = self._image, None
        if image is not None:
            self._library.array_end_image()
        self._library.unload()
        if image is not None:
            image.close()

    def _check_access(self, result: int, what: str, address: int) -> None:
        self._check_violations()
        if result == _Access.ERROR:
            raise RegisterError(f"{what} of register {address:#06x} was refused (SLVERR)")
        if result == _Access.TIMEOUT:
            raise DeviceHang(f"{what} of register {address:#x} was not answered (cycle {self.cycles})")

    def _run(self, most: int) -> _Stop:
        stop = _Stop(self._library.run(most))
        self._check_violations()
        self._keep_time()
        return stop

    def _check_violations(self) -> None:
        violation = self._library.first_violation()
        if violation and self._image is not None and (failure := self._library.array_image_error()):
            raise self._image.failed(failure.decode())
        if violation:
            raise ProtocolViolation(violation.decode())


LINKS["rtl"] = RtlLink
