"""The whole test: a device and its neighbour, the machine, its steps, and what the target has seen."""

import re
import sys
import time
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from pathlib import Path

from flashtrain.spec import preset

from .initramfs import write_initramfs
from .machine import running
from .packages import Packages
from .target import serving

_STEP = re.compile(r"@(ok|failed) (\S+) (\S+) (\S+) ?(.*)")
_TIME = re.compile(r"# (.* cycles of the RTL, .*|mean cycles .*|\d+ I/O commands with SGLs)")
_REFUSED = re.compile(r"(\d+) commands refused, (\d+) of them sent again")


@dataclass(frozen=True)
class Device:
    """A device to test.

    - megabytes: that each job of fio writes.
    - loop: blocks that are written until the loss of power, at most.
    - without: steps that are left to another device.
    """

    preset: str
    link: str
    megabytes: int
    loop: int
    without: tuple[str, ...] = ()

    @property
    def settings(self) -> str:
        """Variables of the steps, as the shell reads them."""
        geometry = preset(self.preset).geometry
        sectors = geometry.zone_size * geometry.page_bytes // 512
        return f"ZONE_SECTORS={sectors}\nBYTES={self.megabytes}m\n"

    def steps_of(self, names: Container[str] | None) -> Callable[[str], bool]:
        """Whether the step of a name is run, of those of `names`, or of all."""
        return lambda name: (names is None or name in names) and name not in self.without


MOST_SECONDS = 480.0
"""A machine that takes longer hangs, and is ended."""

NEIGHBOUR = ("--preset", "small", "--link", "functional", "--nqn", "nqn.2025-01.example.flashtrain:neighbour")
"""The target of a second device of the machine."""

DEVICES = (Device("small", "rtl", 1, 400, without=("admin",)), Device("behemoth", "functional", 4, 4000))


@dataclass(frozen=True)
class Step:
    name: str
    good: bool
    seconds: float
    detail: str

    @property
    def text(self) -> str:
        return f"{self.name}: {'ok' if self.good else 'failed'}, {self.seconds:.1f} s"


@dataclass(frozen=True)
class Outcome:
    """The steps of one device.

    - refused, repeated: commands that the target refused, and had to again.
    - times: what the device says of its own time.
    """

    device: Device
    steps: tuple[Step, ...]
    seconds: float
    refused: int
    repeated: int
    ended: bool
    console: tuple[str, ...]
    times: tuple[str, ...] = ()

    @property
    def good(self) -> bool:
        return self.ended and bool(self.steps) and all(step.good for step in self.steps) and not self.repeated


def run(
    device: Device,
    packages: Packages,
    folder: Path,
    say: Callable[[str], None],
    names: Container[str] | None = None,
) -> Outcome:
    """Boot the machine with this device, and collect its steps, those of `names` or all."""
    start, steps, console, ended = time.monotonic(), [], [], False
    settings = f"{device.settings}LOOP_BLOCKS={device.loop}\n"
    initramfs = folder / f"{device.preset}.cpio"
    write_initramfs(packages, settings, initramfs, device.steps_of(names))
    with (
        serving("--preset", device.preset, "--link", device.link) as served,
        serving(*NEIGHBOUR) as neighbour,
    ):
        with running(packages, initramfs, (served.port, neighbour.port), MOST_SECONDS) as lines:
            for line in lines:
                console.append(line)
                if line.startswith("@power"):
                    served.lose_power()
                elif line.startswith("@end"):
                    ended = True
                elif (step := step_of(line)) is not None:
                    steps.append(step)
                    say(f"{device.preset}: {step.text}")
        served.end()
        console += served.log
    return outcome_of(device, steps, time.monotonic() - start, ended, console)


def step_of(line: str) -> Step | None:
    """The step that a line of the console reports."""
    found = _STEP.match(line)
    if found is None:
        return None
    good, name, before, after, detail = found.groups()
    return Step(name, good == "ok", float(after) - float(before), detail)


def outcome_of(
    device: Device, steps: Sequence[Step], seconds: float, ended: bool, lines: Sequence[str]
) -> Outcome:
    """The outcome of a machine. `lines` are of its console and, behind them, of the log of its devices."""
    counts = [(int(found[1]), int(found[2])) for line in lines if (found := _REFUSED.search(line))]
    refused, repeated = sum(one for one, _ in counts), sum(again for _, again in counts)
    times = tuple(found[1] for line in lines if (found := _TIME.fullmatch(line)))
    good = ended and bool(counts)
    return Outcome(device, tuple(steps), seconds, refused, repeated, good, tuple(lines), times)


def table(outcome: Outcome) -> str:
    """The steps of a device as text."""
    device = outcome.device
    lines = [f"{device.preset} through the {device.link} Link, {outcome.seconds:.0f} s"]
    lines += [
        f"  {step.name:<18}  {'good' if step.good else 'FAILED':<6}  {step.seconds:6.1f} s  {step.detail}"
        for step in outcome.steps
    ]
    lines += [f"  {line}" for line in outcome.times]
    lines.append(f"  {outcome.refused} commands were refused, {outcome.repeated} of them sent again")
    return "\n".join(lines)


def say(line: str) -> None:
    """Progress of a program."""
    print(f"# {line}", file=sys.stderr)


def run_devices(
    devices: Sequence[Device], run_one: Callable[[Device], Outcome], folder: Path, prefix: str = ""
) -> int:
    """Run the machines of the command line's presets, or all; the exit code. `folder` gets their consoles."""
    good = True
    for device in devices:
        if len(sys.argv) > 1 and device.preset not in sys.argv[1:]:
            continue
        outcome = run_one(device)
        text = "\n".join(outcome.console) + "\n"
        (folder / f"{prefix}{device.preset}.txt").write_text(text, encoding="utf-8")
        print(table(outcome))
        good = good and outcome.good
    return 0 if good else 1


def main() -> int:
    folder = Path("build/linux")
    packages = Packages(folder.resolve())
    packages.fetch(say)
    return run_devices(DEVICES, lambda device: run(device, packages, folder, say), folder)


if __name__ == "__main__":
    sys.exit(main())
