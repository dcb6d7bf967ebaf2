"""The poster's machine, a flash memory system beside it, and the systems of checkpoints on both.

All rates are assumptions. Public artifacts have some of the literature's; the others are declared as ours.
"""

from functools import cached_property

from flashtrain.checkpoint.models.training_model import MODELS
from flashtrain.checkpoint.systems import (
    Accelerator,
    AppendState,
    AsyncSave,
    CheckFreq,
    CheckpointSystem,
    FileSave,
    Gemini,
    PCcheck,
    PinAndCopy,
    PinState,
    TrainingJob,
    job_of,
)
from flashtrain.figures.drives import DRIVES_READ, DRIVES_WRITE
from flashtrain.figures.parts import Assumption, Values
from flashtrain.platform.models import append_bound, read_bound
from flashtrain.spec import preset
from flashtrain.ssd.pcie import PcieLink

GB, MB = 1e9, 1e6
PCIE = round(PcieLink(4, 16).bytes_per_second / GB, 1)

TRAINING = (
    Assumption("tflops", 35.6, 17.8, 71.2, "TFLOP/s", "peak of an RTX 3090 in FP32, data sheet"),
    Assumption("efficiency", 0.35, 0.2, 0.6, "", "share of the peak that training reaches; an assumption"),
    Assumption("memory_gb", 936, 468, 1872, "GB/s", "memory of an RTX 3090, data sheet; bounds the update"),
    Assumption(
        "batch_scale", 1, 0.25, 1, "",
        "of the declared batches, powers of two up to 256 that fit 24 GB; the poster has none",
    ),
)  # fmt: skip

SYSTEMS = (
    Assumption("ssd_write_mb", 520, 380, 3000, "MB/s", "PM883, a SATA drive of 480 GB; an assumption"),
    Assumption("ssd_read_mb", 550, 380, 3500, "MB/s", "the same"),
    Assumption(
        "file_share", 0.52, 0.4, 1, "",
        "of the drive's rate that a file reaches: CheckFreq's over PCcheck's, VGG16 in PCcheck's artifact",
    ),
    Assumption("snapshot_gb", 1.6, 1.6, 12, "GB/s", "of CheckFreq to the host: VGG16 in PCcheck's artifact"),
    Assumption("stage_gb", 6, 2, PCIE, "GB/s", "copy of the asynchronous save; an assumption"),
    Assumption("pcie_gb", PCIE, 7.2, 57.6, "GB/s", "PCIe 4.0 x16 each way, which the poster's machine has"),
    Assumption("network_gb", 3.1, 1.9, 50, "GB/s", "25 Gbit/s; PCcheck's machine has 15, Gemini's 400"),
    Assumption("idle_share", 0.5, 0.1, 0.9, "", "of the network that training leaves; an assumption"),
    Assumption(
        "pin_clocks", 434, 140, 1500, "cycles",
        "of a pin and the release of the one before: `flashtrain bench checkpoint_pin`, RTL of `small`",
    ),
    Assumption("clock_mhz", 600, 300, 600, "MHz", "of the controller of `small` and `behemoth`"),
    Assumption("record_us", 105, 100, 300, "µs", "of a commit with its journal record, same benchmark"),
    Assumption(
        "record_exposed", 0, 0, 1, "",
        "of it that training waits for: 0 with `commit(pin=True)`, which has one record; 1 with `pin()`",
    ),
    Assumption("copy_share", 0.25, 0.05, 0.5, "", "of the link that a copy of a pin takes; an assumption"),
)  # fmt: skip

OF_DRIVES = {"ssd_write_mb": (DRIVES_WRITE, 1000.0), "ssd_read_mb": (DRIVES_READ, 1000.0)}
"""What drives are in place of: see `PublishedFigure.drives`."""

CONCURRENT = 4
"""Checkpoints that PCcheck writes at once, for VGG16 and BERT. They share the drive, and change no stall."""


class Machine:
    """The jobs and the systems at the values of the assumptions."""

    def __init__(self, values: Values) -> None:
        self.values = values

    def job(self, model: str) -> TrainingJob:
        """The job that trains `model`, on one accelerator or on several with a batch each."""
        v = self.values
        accelerator = Accelerator(v["tflops"] * 1e12, v["efficiency"], v["memory_gb"] * GB)
        return job_of(MODELS[model], accelerator, v["batch_scale"])

    @cached_property
    def file(self) -> FileSave:
        return FileSave(self._rate("snapshot_gb"), self._file_rate, self._ssd("ssd_read_mb"))

    @cached_property
    def pin(self) -> PinState:
        """Behind the link, the device reads and appends at its own bounds at most."""
        behemoth = preset("behemoth")
        v = self.values
        return PinState(
            pin_seconds=v["pin_clocks"] / (v["clock_mhz"] * 1e6),
            record_seconds=v["record_us"] * 1e-6,
            record_exposed=v["record_exposed"],
            append_rate=min(self._rate("pcie_gb"), append_bound(behemoth)),
            read_rate=min(self._rate("pcie_gb"), read_bound(behemoth)),
        )

    @cached_property
    def systems(self) -> tuple[CheckpointSystem, ...]:
        """All, the literature first."""
        v, link = self.values, self._rate("pcie_gb")
        write, read = self._ssd("ssd_write_mb"), self._ssd("ssd_read_mb")
        return (
            self.file,
            AsyncSave(self._rate("stage_gb"), self._file_rate, read),
            CheckFreq(self._rate("snapshot_gb"), self._file_rate, read),
            PCcheck(link, write, read, CONCURRENT),
            Gemini(self._rate("network_gb"), v["idle_share"]),
            AppendState(link, self.pin.append_rate, self.pin.read_rate),
            self.pin,
            PinAndCopy(self.pin, link, v["copy_share"]),
        )

    def system(self, kind: type[CheckpointSystem]) -> CheckpointSystem:
        return next(system for system in self.systems if type(system) is kind)

    @property
    def _file_rate(self) -> float:
        return self._ssd("ssd_write_mb") * self.values["file_share"]

    def _ssd(self, name: str) -> float:
        return self.values[name] * MB

    def _rate(self, name: str) -> float:
        return self.values[name] * GB
