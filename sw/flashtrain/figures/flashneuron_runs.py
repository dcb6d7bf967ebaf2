"""Iterations of captured networks beside each storage, for the figures of FlashNeuron (FAST'21)."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property, partial
from math import inf

import numpy as np

from flashtrain.figures.parts import Assumption, Values
from flashtrain.host import open_device
from flashtrain.model import ModelLink
from flashtrain.platform.offload_storages import OFFLOAD_STORAGES
from flashtrain.spec import preset
from flashtrain.training.errors import OffloadError
from flashtrain.training.offload import Profile, Storage, flashneuron_plan, offload_plan
from flashtrain.training.offload.drafts import timeline_of
from flashtrain.training.offload.event_model import IN_MEMORY, EventModel
from flashtrain.training.offload.measure import measured_storage
from flashtrain.training.offload.network import Network, network_named
from flashtrain.training.offload.processor import V100, Processor
from flashtrain.training.offload.storage import RAW

NETWORKS = ("bert-large", "gpt2", "resnet152", "densenet161")
HEADLINE = "bert-large"
CONVOLUTIONAL = ("resnet152", "densenet161")
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
    Assumption("launch", 10e-6, 0.0, 30e-6, "s", "least time of a kernel; eager PyTorch, not published"),
    Assumption("lossless_transformer", 1.16, 1.0, 1.3, "", "window code of FP32, of a GPT (docs/codec.md)"),
    Assumption("lossless_convolution", 1.47, 1.3, 2.55, "", "the same of a ResNet"),
    Assumption("lossy_transformer", 2.79, 2.0, 3.0, "", "rounded to BF16 and coded, of a GPT"),
    Assumption("lossy_convolution", 3.35, 2.0, 5.0, "", "the same of a ResNet"),
)


@dataclass(frozen=True)
class Way:
    """A storage and a schedule. `storage` is a name of `OFFLOAD_STORAGES`."""

    label: str
    storage: str
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


class Runs:
    """Iterations with these values of the assumptions. Each is computed once."""

    def __init__(self, values: Values) -> None:
        self._values = dict(values)
        self._key = tuple(sorted(self._values.items()))

    def most_in_memory(self, network: str) -> int:
        """The largest batch that fits the memory without a storage."""
        return _largest(lambda batch: self.in_memory(network, batch) < inf)

    def most(self, network: str, way: Way) -> int:
        """The largest batch that fits with it."""
        return _largest(lambda batch: _fits(self._key, network, batch, way))

    def in_memory(self, network: str, batch: int) -> float:
        """Seconds of an iteration without a storage; infinite if it does not fit."""
        profile = self.profile(network, batch)
        storage = self.storage(WAYS[1])
        model = EventModel(profile, storage, [RAW] * len(profile.tensors))
        order = np.full(len(profile.tensors), IN_MEMORY, np.int32)
        timeline = model.run(order, np.zeros_like(order))
        return inf if timeline.stuck is not None else timeline.seconds

    def seconds(self, network: str, batch: int, way: Way) -> float:
        """Seconds of an iteration; infinite if it does not fit."""
        return _seconds(self._key, network, batch, way)

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

    @cached_property
    def _processor(self) -> Processor:
        v = self._values
        return Processor(v["flops"], v["bandwidth"], v["launch"])

    def profile(self, network: str, batch: int) -> Profile:
        """An iteration with the ratios of the kind of network."""
        kind = "convolution" if network in CONVOLUTIONAL else "transformer"
        lossy, lossless = self._values[f"lossy_{kind}"], self._values[f"lossless_{kind}"]
        captured = _network(network)
        ratios = {**captured.ratios, "round16": lossy, "window32": lossless}
        return replace(captured, ratios=ratios).profile(batch, self._processor)

    def storage(self, way: Way) -> Storage:
        """The storage of `way`, that of an FMS with measured rates."""
        memory = int(self._values["memory"])
        named = OFFLOAD_STORAGES[way.storage].make(preset(PRESET), memory)
        if not way.storage.startswith("fms"):
            return named
        return replace(
            _measured_fms(), name=named.name, memory_bytes=memory, codecs=named.codecs,
            port_bytes_per_second=named.port_bytes_per_second,
        )  # fmt: skip


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
def _seconds(key: tuple[tuple[str, float], ...], network: str, batch: int, way: Way) -> float:
    runs = Runs(dict(key))
    try:
        return way.plan(runs.profile(network, batch), runs.storage(way))
    except OffloadError:
        return inf


@cache
def _fits(key: tuple[tuple[str, float], ...], network: str, batch: int, way: Way) -> bool:
    """Whether any choice fits: the first ones of a plan have those with the least memory."""
    if way.plan is _flashneuron:
        return _seconds(key, network, batch, way) < inf
    runs = Runs(dict(key))
    try:
        offload_plan(runs.profile(network, batch), runs.storage(way), runs=0)
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
