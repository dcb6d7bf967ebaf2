"""Both devices: QEMU's controller, and our target behind a connection of our client."""

from collections.abc import Iterator
from contextlib import contextmanager

from flashtrain.host import open_device
from flashtrain.nvme.client.host import Host
from flashtrain.nvme.wire.commands import SGL_PSDT
from flashtrain.qemu.debian import Unpacked
from flashtrain.qemu.machine import running
from flashtrain.qemu.nvme_controller import NvmeController
from tests.nvme.helpers import serving

from .shape import CONFIG, NODE, QUEUES, Shape, qemu_devices, shape_of
from .trial import Outcome, Queue, Trial


class Devices:
    """QEMU's controller ("theirs") and our target ("ours")."""

    def __init__(self, shape: Shape, theirs: NvmeController, ours: Host) -> None:
        self.shape = shape
        self._theirs = theirs
        self._ours = ours

    def run(self, trial: Trial) -> tuple[Outcome, Outcome]:
        """The answers of QEMU's controller and of our target."""
        self._theirs.begin(trial.queue.value, trial.entry.packed(), trial.data, trial.length)
        queue = self._ours.admin if trial.queue is Queue.ADMIN else self._ours.io[0]
        entry = trial.entry._replace(flags=trial.entry.flags | SGL_PSDT, sgl_length=trial.length)
        done = queue.execute(entry, trial.data)
        answer = done.answer
        ours = Outcome(
            answer.status, answer.do_not_retry, answer.result, b"" if answer.status else bytes(done.data)
        )
        status = self._theirs.end(trial.queue.value)
        data = b"" if status.status else self._theirs.data(trial.length)
        return Outcome(status.status, status.do_not_retry, status.result, data), ours


@contextmanager
def both(emulator: Unpacked) -> Iterator[Devices]:
    """Both devices of one shape, empty."""
    with open_device(CONFIG, "functional", NODE) as device:
        shape = shape_of(device)
        with (
            running(emulator, *qemu_devices(shape)) as machine,
            serving(device, queues=QUEUES) as target,
            target.host(in_capsule=16 << 10) as host,
        ):
            yield Devices(shape, NvmeController(machine), host)
