"""QEMU's controller, and ours: the target behind a connection, the device alone, and the drive in RTL."""

import asyncio
import struct
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Protocol

import numpy as np

from flashtrain.drive.rtl_function import RtlFunction
from flashtrain.firmware import Firmware, firmware_tables
from flashtrain.host import Device, open_device
from flashtrain.nvme.client.host import Host
from flashtrain.nvme.subsystem.settings import SubsystemSettings
from flashtrain.nvme.wire.commands import SGL_PSDT
from flashtrain.qemu.debian import Unpacked
from flashtrain.qemu.machine import running
from flashtrain.qemu.nvme_controller import MOST_BYTES, NvmeController
from flashtrain.sim.link.pcie_link import PcieLink
from flashtrain.sim.link.pcie_model import PcieSizes
from flashtrain.spec import Port
from tests.nvme.helpers import serving
from tests.nvme.pcie.root_complex import DATA, Memory, RootComplex

from .shape import CONFIG, NODE, QUEUES, Shape, qemu_devices, shape_of
from .trial import Outcome, Queue, Trial

PAGE = 4096
_LIST = DATA - PAGE


class Ours(Protocol):
    """A device of ours."""

    def run(self, trial: Trial) -> Outcome: ...


class OverTcp:
    """The target, behind a connection of our client."""

    def __init__(self, host: Host) -> None:
        self._host = host

    def run(self, trial: Trial) -> Outcome:
        queue = self._host.admin if trial.queue is Queue.ADMIN else self._host.io[0]
        entry = trial.entry._replace(flags=trial.entry.flags | SGL_PSDT, sgl_length=trial.length)
        done = queue.execute(entry, trial.data)
        answer = done.answer
        data = b"" if answer.status else bytes(done.data)
        return Outcome(answer.status, answer.do_not_retry, answer.result, data)


class Raw:
    """The device itself, through the queue of its host port."""

    def __init__(self, device: Device) -> None:
        self._device = device
        self._buffer = device.buffer(MOST_BYTES, np.uint8)
        self._address = device.address_of(self._buffer)

    def run(self, trial: Trial) -> Outcome:
        length = len(trial.data) or trial.length
        self._buffer[:length] = np.frombuffer(trial.data, np.uint8) if trial.data else 0
        entry = trial.entry._replace(
            flags=trial.entry.flags | SGL_PSDT, sgl_type=0, sgl_length=length, sgl_address=self._address
        )
        [answer] = self._device.submit_raw_batch([(Port.HOST, entry.packed())])
        data = b"" if answer.status else self._buffer[: trial.length].tobytes()
        return Outcome(answer.status, answer.do_not_retry, answer.result, data)


class OverPcie:
    """The drive in RTL, below a root complex whose memory is bytes. The pages of data are side by side."""

    def __init__(self, host: RootComplex, runner: asyncio.Runner) -> None:
        self._host, self._runner = host, runner

    def run(self, trial: Trial) -> Outcome:
        memory, length = self._host.memory.bytes, len(trial.data) or trial.length
        memory[DATA : DATA + length] = trial.data or bytes(length)
        pages = range(DATA + PAGE, DATA + length, PAGE)
        second = pages[0] if len(pages) == 1 else _LIST
        memory[_LIST : _LIST + 8 * len(pages)] = b"".join(page.to_bytes(8, "little") for page in pages)
        raw = trial.entry.packed()
        raw = raw[:24] + struct.pack("<QQ", DATA, second if pages else 0) + raw[40:]
        answer = self._runner.run(self._host.execute(trial.queue.value, raw))
        data = b"" if answer.status else bytes(memory[DATA : DATA + trial.length])
        return Outcome(answer.status, answer.do_not_retry, answer.result, data)


class Devices:
    """QEMU's controller ("theirs") and a device of ours."""

    def __init__(self, shape: Shape, theirs: NvmeController, ours: Ours) -> None:
        self.shape = shape
        self._theirs = theirs
        self._ours = ours

    def run(self, trial: Trial) -> tuple[Outcome, Outcome]:
        """The answers of QEMU's controller and of ours."""
        self._theirs.begin(trial.queue.value, trial.entry.packed(), trial.data, trial.length)
        ours = self._ours.run(trial)
        status = self._theirs.end(trial.queue.value)
        data = b"" if status.status else self._theirs.data(trial.length)
        return Outcome(status.status, status.do_not_retry, status.result, data), ours


@contextmanager
def target_and_qemu(emulator: Unpacked) -> Iterator[Devices]:
    """QEMU and the target, of one shape and empty."""
    with open_device(CONFIG, "functional", NODE) as device:
        shape = shape_of(device.config)
        with (
            running(emulator, *qemu_devices(shape)) as machine,
            serving(device, queues=QUEUES) as target,
            target.host(in_capsule=16 << 10) as host,
        ):
            yield Devices(shape, NvmeController(machine), OverTcp(host))


@contextmanager
def device_and_qemu(emulator: Unpacked) -> Iterator[Devices]:
    """QEMU and the device without a target, of one shape and empty."""
    with open_device(CONFIG, "functional", NODE) as device:
        shape = shape_of(device.config)
        with running(emulator, *qemu_devices(shape)) as machine:
            yield Devices(shape, NvmeController(machine), Raw(device))


@contextmanager
def drive_and_qemu(emulator: Unpacked) -> Iterator[Devices]:
    """QEMU and the drive in RTL with its firmware, of one shape and empty."""
    sizes = PcieSizes.of(CONFIG, QUEUES)
    shape = shape_of(CONFIG, sizes.most_bytes)
    settings = SubsystemSettings(queues=sizes.queues, entries=sizes.entries)
    tables = firmware_tables(CONFIG, NODE, sizes.slots, sizes.most_bytes, settings, "conformance")
    memory, errors = Memory(), []

    async def begin() -> RootComplex:
        function = RtlFunction(
            link, memory, lambda *accesses: Firmware(*accesses[:2], tables, accesses[2]), errors.append
        )
        host = RootComplex(function, memory, [])
        await host.enable()
        await host.create(1)
        return host

    with (
        closing(PcieLink(CONFIG, sizes, memory_bytes=PAGE)) as link,
        asyncio.Runner() as runner,
        running(emulator, *qemu_devices(shape)) as machine,
    ):
        host = runner.run(begin())
        yield Devices(shape, NvmeController(machine), OverPcie(host, runner))
        host.function.close()
    assert not errors
