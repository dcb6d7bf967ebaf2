"""The rows of what is observed: a recording, waves, and an image."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from flashtrain.host import Device, FunctionalLink, open_device
from flashtrain.perf.measurement import Cost, Measurement, Result
from flashtrain.perf.observed_speed import image_speed, trace_speed, wave_speed
from flashtrain.spec import preset
from flashtrain.spec.streams import SINGLE_NODE

from .bench_settings import Settings
from .console import Console
from .device import memory_bytes

if TYPE_CHECKING:
    from flashtrain.sim.waves.wave_link import WaveLink


def recorded_speed(device: Device, quick: bool) -> Measurement:
    """`trace_speed`, of what `--trace` records."""
    from flashtrain.sim.trace.capture import DeviceCapture

    @contextmanager
    def recorded() -> Iterator[None]:
        capture = DeviceCapture(device)
        capture.begin()
        yield
        capture.finish()

    return trace_speed(device, recorded, quick)


def waved_speed(configuration: str, settings: Settings, console: Console) -> Result:
    """`wave_speed`, of the simulator of `--waves`."""
    from flashtrain.sim.verilator.cxx import WaveFormat
    from flashtrain.sim.waves.wave_link import WaveLink

    config = preset(configuration)
    console.step(f"{configuration} as one model, with waves")
    link = WaveLink(config, memory_bytes(config), WaveFormat.VCD)
    with tempfile.TemporaryDirectory() as folder, link, open_device(config, link, node=SINGLE_NODE) as device:
        started = time.process_time()
        measured = wave_speed(device, lambda: _window(link, Path(folder) / "waves.vcd"))
        cost = Cost(time.process_time() - started, 0)
    return Result.of("wave_speed", configuration, "rtl", cost, measured)


@contextmanager
def _window(link: "WaveLink", file: Path) -> Iterator[None]:
    link.wave(file)
    yield
    link.end_waves()


def imaged_speed(configuration: str, settings: Settings, console: Console) -> Result:
    """`image_speed`, in a folder for temporary files."""
    config = preset(configuration)
    console.step(f"{configuration} in memory and in an image")
    with (
        tempfile.TemporaryDirectory() as folder,
        open_device(config, FunctionalLink, node=SINGLE_NODE) as plain,
        open_device(config, FunctionalLink, node=SINGLE_NODE, image=Path(folder) / "flash.img") as stored,
    ):
        started = time.process_time()
        measured = image_speed(plain, stored, settings.quick)
        cost = Cost(time.process_time() - started, 0)
    return Result.of("image_speed", configuration, "functional", cost, measured)
