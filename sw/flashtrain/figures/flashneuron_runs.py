"""Iterations of captured networks beside each storage, for the figures of FlashNeuron (FAST'21)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial
from math import inf

from flashtrain.figures.drives import drive_rates, has_drives
from flashtrain.figures.parts import Assumption, Values
from flashtrain.host import open_device
from flashtrain.model import ModelLink
from flashtrain.platform.models import DriveModel
from flashtrain.platform.offload_storages import OFFLOAD_STORAGES
from flashtrain.platform.offload_storages import storage_of as bounds_of
from flashtrain.spec import preset
from flashtrain.training.errors import OffloadError
from flashtrain.training.offload import Profile, Storage, flashneuron_plan, offload_plan
from flashtrain.training.offload.drafts import timeline_of
from flashtrain.training.offload.measure import measured_storage
from flashtrain.training.offload.network import Network
from flashtrain.training.offload.network_file import network_named
from flashtrain.training.offload.processor import V100, Processor

NETWORKS = ("bert-large", "gpt2", "resnet152", "densenet161")
HEADLINE = "bert-large"
CONVOLUTIONAL = ("resnet152", "densenet161")
LAYERS = {"bert-large": 24, "gpt2": 12, "resnet152": 155, "densenet161": 160}
"""Blocks of a transformer, or convolutions."""
FACTORS = (1, 2, 4, 8, 14)
"""Batches of the sweep, over the largest one that fits the memory alone."""

AS_FAST = 0.95
"""A share of the throughput in memory alone that counts as no slower."""

PRESET = "behemoth"
RUNS = 300
"""Of the event model, for a plan: a tenth of what the command takes, and as fast within 1 %."""
TRANSFER_BYTES = 64 << 20
BUFFER_BYTES = 1 << 30

ASSUMPTIONS = (
    Assumption("memory", 16e9, 12e9, 32e9, "bytes", "the V100 of the abstract has 16 GB"),
    Assumption(
        "flops", V100.flops_per_second, 7e12, 15.7e12, "1/s", "data sheet of the V100 PCIe, single precision"
    ),
    Assumption("bandwidth", V100.bytes_per_second, 450e9, 900e9, "B/s", "the same, HBM2"),
    Assumption(
        "fixed_transformer", 1.5e-3, 0.7e-3, 1.7e-3, "s",
        "of a block and an iteration: BERT-large by PyTorch on a V100; the least with fused kernels",
    ),
    Assumption(
        "fixed_convolution", 0.49e-3, 0.28e-3, 0.79e-3, "s",
        "of a convolution and an iteration: ResNet-50 on a V100, the middle one of three public sources",
    ),
    Assumption("lossless_transformer", 1.16, 1.0, 1.3, "", "window code of FP32, of a GPT (docs/codec.md)"),
    Assumption("lossless_convolution", 1.47, 1.3, 2.55, "", "the same of a ResNet"),
    Assumption("lossy_transformer", 2.79, 2.0, 3.0, "", "rounded to BF16 and coded, of a GPT"),
    Assumption("lossy_convolution", 3.35, 2.0, 5.0, "", "the same of a ResNet"),
)  # fmt: skip


NOTES = (
    "The networks were captured from public definitions (docs/capture.md). Those of the publication, its"
    " kernel times and its host are not public, so its numbers cannot be recomputed. The pages show the same"
    " quantities on other networks.",
    "What fits does not depend on the storage: a slow one only takes longer. The chart thus has batches that"
    " are about as fast as memory alone.",
    "An iteration takes the time of a roofline, and a fixed time that does not grow with the batch: that of a"
    " layer, as others have measured it, times the layers of the network. No transfer is hidden behind it.",
    "Rates of the FMS are measured on the performance model, on zones that were erased before. The event"
    " model of docs/offload.md plays the iterations.",
)
"""Sentences of both pages."""


@dataclass(frozen=True)
class Way:
    """A storage and a schedule. `storage` is a name of `OFFLOAD_STORAGES`, or a model."""

    label: str
    storage: str | DriveModel
    plan: Callable[[Profile, Storage], float]


def _ours(profile: Profile, storage: Storage) -> float:
    return offload_plan(profile, storage, RUNS).seconds


def _flashneuron(profile: Profile, storage: Storage) -> float:
    return flashneuron_plan(profile, storage).seconds


def _unplanned_reads(profile: Profile, storage: Storage) -> float:
    timeline = timeline_of(offload_plan(profile, storage, RUNS, instant_reads=True), profile)
    return inf if timeline.stuck is not None else timeline.seconds


FLASHNEURON_WAY = Way("FlashNeuron: one SSD, its code and schedule", "ssd-flashneuron", _flashneuron)
FULL = Way("FMS, codec of BF16", "fms-lossy", _ours)
WAYS = (
    FLASHNEURON_WAY,
    Way("one SSD", "ssd", _ours),
    Way("four SSDs", "ssd4", _ours),
    Way("FMS", "fms", _ours),
    Way("FMS, lossless codec", "fms-codec", _ours),
    FULL,
)
WITHOUT = (
    Way("without codec", "fms", _ours),
    Way("with FlashNeuron's schedule", "fms-lossy", _flashneuron),
    Way("with reads not planned", "fms-lossy", _unplanned_reads),
)
"""`FULL` with a part switched off."""


@dataclass(frozen=True)
class _Iteration:
    """An iteration without its storage. Many values of the assumptions share one."""

    network: str
    batch: int
    processor: Processor
    lossless: float
    lossy: float

    def profile(self) -> Profile:
        captured = _network(self.network)
        ratios = {**captured.ratios, "window32": self.lossless, "round16": self.lossy}
        return replace(captured, ratios=ratios).profile(self.batch, self.processor)


@dataclass(frozen=True)
class Runs:
    """Iterations with some values of the assumptions. Each is computed once."""

    values: Values

    @property
    def ways(self) -> tuple[Way, ...]:
        """`WAYS`, and drives if there are any."""
        return (*WAYS, self.headline) if has_drives(self.values) else WAYS

    @property
    def headline(self) -> Way:
        return (
            Way("drives", DriveModel(*drive_rates(self.values)), _ours) if has_drives(self.values) else FULL
        )

    @property
    def memory_bytes(self) -> int:
        return int(self.values["memory"])

    def most_in_memory(self, network: str) -> int:
        """The largest batch that fits the memory without a storage."""
        return _largest(lambda batch: self._fits_memory(network, batch))

    def most(self, network: str, way: Way) -> int:
        """The largest batch that fits with it."""
        return _largest(lambda batch: _fits(self._iteration(network, batch), way, self.memory_bytes))

    def in_memory(self, network: str, batch: int) -> float:
        """Seconds of an iteration without a storage; infinite if it does not fit."""
        if not self._fits_memory(network, batch):
            return inf
        return self.fixed(network) + _in_memory(self._iteration(network, batch))[0]

    def seconds(self, network: str, batch: int, way: Way) -> float:
        """Seconds of an iteration; infinite if it does not fit."""
        return self.fixed(network) + _seconds(self._iteration(network, batch), way, self.memory_bytes)

    def fixed(self, network: str) -> float:
        """Seconds of an iteration that do not grow with the batch (`batch_law`)."""
        return LAYERS[network] * self.values[f"fixed_{_kind(network)}"]

    def seconds_of_example(self, network: str) -> float:
        """Of the largest batch in memory alone, by the roofline."""
        batch = self.most_in_memory(network)
        return _in_memory(self._iteration(network, batch))[0] / batch

    def throughput(self, network: str, batch: int, way: Way) -> float:
        """Examples per second over those of the largest batch in memory alone."""
        most = self.most_in_memory(network)
        return batch / self.seconds(network, batch, way) * self.in_memory(network, most) / most

    def best(self, network: str, way: Way) -> float:
        """The most throughput of the batches of the sweep."""
        return max(self.throughput(network, batch, way) for batch in self.batches(network))

    def batches(self, network: str) -> list[int]:
        return [factor * self.most_in_memory(network) for factor in FACTORS]

    def factor(self, network: str, way: Way) -> int:
        """The largest multiple of the batch in memory alone with `AS_FAST` of its throughput, or more."""
        unit = self.most_in_memory(network)
        return _largest(lambda multiple: self.throughput(network, multiple * unit, way) >= AS_FAST)

    def _fits_memory(self, network: str, batch: int) -> bool:
        return _in_memory(self._iteration(network, batch))[1] <= self.memory_bytes

    def _iteration(self, network: str, batch: int) -> _Iteration:
        v, kind = self.values, _kind(network)
        processor = Processor(v["flops"], v["bandwidth"])
        return _Iteration(network, batch, processor, v[f"lossless_{kind}"], v[f"lossy_{kind}"])


def _kind(network: str) -> str:
    return "convolution" if network in CONVOLUTIONAL else "transformer"


@cache
def _network(name: str) -> Network:
    return network_named(name)


@cache
def _measured_fms() -> Storage:
    """Rates of the device, of each kind of transfer alone and of both, on the performance model."""
    link = partial(ModelLink, keep_data=False)
    with open_device(PRESET, link, memory_bytes=BUFFER_BYTES) as device:
        return measured_storage(device, BUFFER_BYTES, TRANSFER_BYTES)


@cache
def storage_of(way: Way, memory_bytes: int) -> Storage:
    """The storage of `way`, that of an FMS with measured rates."""
    if isinstance(way.storage, DriveModel):
        return bounds_of(way.storage, memory_bytes)
    named = OFFLOAD_STORAGES[way.storage].make(preset(PRESET), memory_bytes)
    if not way.storage.startswith("fms"):
        return named
    return replace(
        _measured_fms(), name=named.name, memory_bytes=memory_bytes, codecs=named.codecs,
        port_bytes_per_second=named.port_bytes_per_second,
    )  # fmt: skip


@cache
def _in_memory(iteration: _Iteration) -> tuple[float, int]:
    """Seconds, and the most bytes in memory. Without transfers no operation waits."""
    profile = iteration.profile()
    return profile.seconds, profile.peak_bytes


@cache
def _seconds(iteration: _Iteration, way: Way, memory_bytes: int) -> float:
    try:
        return way.plan(iteration.profile(), storage_of(way, memory_bytes))
    except OffloadError:
        return inf


@cache
def _fits(iteration: _Iteration, way: Way, memory_bytes: int) -> bool:
    """Whether any choice fits: the first ones of a plan have those with the least memory."""
    if way.plan is _flashneuron:
        return _seconds(iteration, way, memory_bytes) < inf
    try:
        offload_plan(iteration.profile(), storage_of(way, memory_bytes), runs=0)
    except OffloadError:
        return False
    return True


def _largest(fits: Callable[[int], bool]) -> int:
    """The largest number that fits, 0 if 1 does not."""
    low, high = 0, 1
    while fits(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
