"""The poster's machine, a flash memory system beside it, and the systems of checkpoints on both.

All rates are assumptions. Public artifacts have some of the literature's. The others are declared as ours.
Iterations are as long as others measured them on the poster's accelerator, if such a measurement is public.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from flashtrain.checkpoint.models.training_model import MODELS
from flashtrain.checkpoint.systems import (
    Accelerator,
    AppendState,
    AsyncSave,
    ByteCheckpoint,
    CheckFreq,
    Checkmate,
    CheckpointSystem,
    FileSave,
    Gemini,
    GoCkpt,
    PCcheck,
    PinAndCopy,
    PinState,
    TrainingJob,
    job_of,
)
from flashtrain.figures.drives import DRIVES_READ, DRIVES_WRITE
from flashtrain.figures.parts import Assumption, Values
from flashtrain.perf.read_bound import read_bound
from flashtrain.platform.models import append_bound
from flashtrain.spec import preset
from flashtrain.ssd.pcie import PcieLink

GB, MB = 1e9, 1e6
PCIE = round(PcieLink(4, 16).bytes_per_second / GB, 1)

TRAINING = (
    Assumption("tflops", 35.6, 17.8, 71.2, "TFLOP/s", "peak of an RTX 3090 in FP32, data sheet"),
    Assumption(
        "efficiency", 0.35, 0.2, 0.6, "",
        "share of the peak that training reaches where no rate is measured; an assumption",
    ),
    Assumption("memory_gb", 936, 468, 1872, "GB/s", "memory of an RTX 3090, data sheet; bounds the update"),
    Assumption(
        "batch_scale", 1, 0.25, 1, "",
        "of the measured batches, else of declared ones, powers of two up to 256 that fit 24 GB; the poster"
        " has none",
    ),
)  # fmt: skip

LAMBDA = "two RTX 3090, Lambda's deeplearning-benchmark"
TIMM = "one RTX 3090, timm's results, mixed precision"


@dataclass(frozen=True)
class MeasuredRate:
    """A public measurement of a model's training on RTX 3090.

    - `rate`: examples per second on all of the `accelerators` together, as an assumption.
    - `batch`: examples of an iteration on one of them.
    """

    rate: Assumption
    batch: int
    accelerators: int


MEASURED: Mapping[str, MeasuredRate] = {
    "bert-base": MeasuredRate(
        Assumption(
            "bert_base_rate", 154, 126, 327, "1/s",
            f"{LAMBDA}, pytorch-train-throughput-fp32.csv: SQuAD, 384 tokens, TF32; low: without TF32,"
            " by GPT-2's ratio; high: its FP16",
        ), 48, 2,
    ),
    "bert-large": MeasuredRate(
        Assumption("bert_large_rate", 38, 31, 89, "1/s", "the same source, and the same ends"), 16, 2
    ),
    "gpt2": MeasuredRate(
        Assumption(
            "gpt2_rate", 12.3, 12.3, 19.5, "1/s",
            "one RTX 3090, sequences of 1,024 tokens: G. Thomas, *Writing an LLM from scratch*, part 32h, has"
            " 12,599 tokens/s in FP32, 15,402 with TF32, 19,921 with mixed precision; its head is not tied",
        ), 5, 1,
    ),
    "resnet18": MeasuredRate(
        Assumption(
            "resnet18_rate", 2764, 1545, 3482, "1/s",
            f"{TIMM}, benchmark-train-amp-nchw-pt112-cu113-rtx3090.csv; low: FP32, by ResNet-50's ratio;"
            " high: channels last",
        ), 512, 1,
    ),
    "resnet50": MeasuredRate(
        Assumption(
            "resnet50_rate", 979, 952, 1751, "1/s",
            f"{LAMBDA}, pytorch-train-throughput-fp32.csv, TF32; low: its TensorFlow; high: its FP16",
        ), 224, 2,
    ),
    "alexnet": MeasuredRate(
        Assumption(
            "alexnet_rate", 9244, 6744, 16_113, "1/s",
            "two RTX 3090, lambda-tensorflow-benchmark, tf-train-throughput-fp32.csv; low: one card; high:"
            " FP16",
        ), 896, 2,
    ),
    "vgg11": MeasuredRate(
        Assumption(
            "vgg11_rate", 826, 488, 954, "1/s",
            f"{TIMM}, same file as ResNet-18; low: FP32, by VGG-16's ratio in lambda-tensorflow-benchmark;"
            " high: channels last",
        ), 512, 1,
    ),
}  # fmt: skip
"""By model. GPT-Neo and GoogLeNet have no public rate on this accelerator: theirs follows from FLOPs."""
RATES = tuple(measured.rate for measured in MEASURED.values())

SYSTEMS = (
    Assumption("ssd_write_mb", 520, 380, 3000, "MB/s", "PM883, a SATA drive of 480 GB; an assumption"),
    Assumption("ssd_read_mb", 550, 380, 3500, "MB/s", "the same"),
    Assumption(
        "file_share", 0.93, 0.52, 1, "",
        "of the drive's rate that `torch.save` reaches: 0.45 GB/s with a copy of 6 GB/s; an assumption; low:"
        " CheckFreq's over PCcheck's in PCcheck's artifact, 0.41 GB/s of 0.78",
    ),
    Assumption("snapshot_gb", 1.6, 1.6, 12, "GB/s", "of CheckFreq to the host: VGG16 in PCcheck's artifact"),
    Assumption("stage_gb", 6, 2, PCIE, "GB/s", "copy of synchronous and asynchronous saves; an assumption"),
    Assumption("pcie_gb", PCIE, 7.2, 57.6, "GB/s", "PCIe 4.0 x16 each way, which the poster's machine has"),
    Assumption("network_gb", 3.1, 1.9, 50, "GB/s", "25 Gbit/s; PCcheck's machine has 15, Gemini's 400"),
    Assumption("idle_share", 0.5, 0.1, 0.9, "", "of the network that training leaves; an assumption"),
    Assumption(
        "cpu_gb", 100, 20, 400, "GB/s",
        "memory of a CPU that repeats updates, of Checkmate's shadow and GoCkpt; 8 DDR4-3200 have 205; an"
        " assumption",
    ),
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
        """The job that trains `model` at its declared batch, on one accelerator or on several with one each.

        Its iterations have the time of their FLOPs.
        """
        return job_of(MODELS[model], self._accelerator, self.values["batch_scale"])

    def measured_job(self, model: str) -> TrainingJob:
        """The same with a measured batch and its iterations, if there is a public measurement."""
        if model not in MEASURED:
            return self.job(model)
        measured = MEASURED[model]
        seconds = measured.batch * measured.accelerators / self.values[measured.rate.name]
        return job_of(MODELS[model], self._accelerator, self.values["batch_scale"], seconds)

    def batch(self, model: str) -> float:
        """Examples per iteration and accelerator of `measured_job`."""
        batch = MEASURED[model].batch if model in MEASURED else MODELS[model].batch
        return batch * self.values["batch_scale"]

    @cached_property
    def file(self) -> FileSave:
        return FileSave(self._rate("stage_gb"), self._file_rate, self._ssd("ssd_read_mb"))

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
            read_rate=min(self._rate("pcie_gb"), read_bound(behemoth).bytes_per_second),
        )

    @cached_property
    def gockpt(self) -> GoCkpt:
        link, write = self._rate("pcie_gb"), self._ssd("ssd_write_mb")
        return GoCkpt(link, write, self._ssd("ssd_read_mb"), self._rate("cpu_gb"))

    @cached_property
    def checkmate(self) -> Checkmate:
        return Checkmate(self._rate("network_gb"), self._rate("cpu_gb"))

    @cached_property
    def systems(self) -> tuple[CheckpointSystem, ...]:
        """All, the literature first."""
        v, link = self.values, self._rate("pcie_gb")
        write, read = self._ssd("ssd_write_mb"), self._ssd("ssd_read_mb")
        return (
            self.file,
            AsyncSave(self._rate("stage_gb"), self._file_rate, read),
            ByteCheckpoint(link, write, read),
            CheckFreq(self._rate("snapshot_gb"), self._file_rate, read),
            PCcheck(link, write, read, CONCURRENT),
            self.gockpt,
            Gemini(self._rate("network_gb"), v["idle_share"]),
            self.checkmate,
            AppendState(link, self.pin.append_rate, self.pin.read_rate),
            self.pin,
            PinAndCopy(self.pin, link, v["copy_share"]),
        )

    def system(self, kind: type[CheckpointSystem]) -> CheckpointSystem:
        return next(system for system in self.systems if type(system) is kind)

    @property
    def _accelerator(self) -> Accelerator:
        v = self.values
        return Accelerator(v["tflops"] * 1e12, v["efficiency"], v["memory_gb"] * GB)

    @property
    def _file_rate(self) -> float:
        return self._ssd("ssd_write_mb") * self.values["file_share"]

    def _ssd(self, name: str) -> float:
        return self.values[name] * MB

    def _rate(self, name: str) -> float:
        return self.values[name] * GB
