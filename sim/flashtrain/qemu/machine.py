"""A machine whose processor is halted: its devices are driven through qtest, its memory is shared."""

import mmap
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

from flashtrain.spec.errors import ToolError

from .debian import Unpacked
from .emulator import PROGRAM
from .qtest import Qtest

MEMORY_BYTES = 16 << 20
_FIRMWARE_BYTES = 64 << 10
_HALT = b"\xf4"
_SHARED_MEMORY = Path("/dev/shm")


class Machine:
    """A running machine: its qtest connection, and its memory from address 0 on."""

    def __init__(self, qtest: Qtest, memory: mmap.mmap, process: subprocess.Popen[str]) -> None:
        self.qtest = qtest
        self.memory = memory
        self._process = process

    def check(self) -> None:
        """:class:`ToolError` if QEMU has ended."""
        if self._process.poll() is not None:
            said = "" if self._process.stderr is None else self._process.stderr.read()
            raise ToolError(f"QEMU has ended with code {self._process.returncode}: {said.strip()}")


@contextmanager
def running(emulator: Unpacked, devices: Sequence[str], images: dict[str, int]) -> Iterator[Machine]:
    """A PC with these devices, until the end of the block.

    - devices: options of QEMU.
    - images: zeroed files by the name of their drives, with their sizes in bytes.
    """
    with tempfile.TemporaryDirectory(
        prefix="flashtrain-qemu-", dir=_SHARED_MEMORY if _SHARED_MEMORY.is_dir() else None
    ) as name:
        folder = Path(name)
        (folder / "firmware").write_bytes(_HALT * _FIRMWARE_BYTES)
        drives: list[str] = []
        for drive, size in images.items():
            with (folder / drive).open("wb") as file:
                file.truncate(size)
            drives += ["-drive", f"file={folder / drive},if=none,id={drive},format=raw,cache=unsafe"]
        command = [
            str(emulator.program(PROGRAM)),
            *("-nodefaults", "-display", "none", "-accel", "tcg", "-bios", str(folder / "firmware")),
            *("-machine", "pc,memory-backend=memory", "-m", f"{MEMORY_BYTES >> 20}"),
            "-object",
            f"memory-backend-file,id=memory,size={MEMORY_BYTES},mem-path={folder / 'memory'},share=on",
            *("-qtest", f"unix:{folder / 'qtest'},server=on,wait=off", "-qtest-log", "none"),
            *drives,
            *devices,
        ]
        process = subprocess.Popen(
            command, env={"LD_LIBRARY_PATH": emulator.library_path},
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            with (
                closing(_connected(folder / "qtest", process)) as qtest,
                (folder / "memory").open("r+b") as file,
                mmap.mmap(file.fileno(), MEMORY_BYTES) as memory,
            ):
                yield Machine(qtest, memory, process)
        finally:
            process.kill()
            process.communicate()


def _connected(path: Path, process: subprocess.Popen[str]) -> Qtest:
    try:
        qtest = Qtest(path)
        qtest.read_config(0, 0)  # QEMU answers when it has made all its parts
        return qtest
    except ToolError:
        process.kill()
        _, said = process.communicate()
        if said.strip():
            raise ToolError(f"QEMU: {said.strip().splitlines()[-1]}") from None
        raise
