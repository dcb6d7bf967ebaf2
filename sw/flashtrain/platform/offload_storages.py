"""Storages that plans of offloading are made for, by name."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from flashtrain.platform.models import FmsRates, SsdModel
from flashtrain.platform.storage import Kind, StorageModel, alone
from flashtrain.spec import FmsConfig
from flashtrain.spec.streams import Codec
from flashtrain.ssd import SsdConfig
from flashtrain.training.offload import SharedPart, Storage

ONE_SSD_BYTES_PER_SECOND = 3.2e9
"""Of the drive of FlashNeuron's public code, which has a constant of 3,072 MiB/s (`ssd_w`). Reads are taken
to be as fast: the code has no figure for them that it uses."""

FLASHNEURON_CODEC = "zeros16"
"""FlashNeuron's own code, on the processor that trains: zeros removed, the rest in 16 bits. It is lossy."""


@dataclass(frozen=True)
class OffloadStorage:
    """A storage by name: `make` takes a configuration and the bytes of memory."""

    name: str
    summary: str
    make: Callable[[FmsConfig, int], Storage]


def storage_of(model: StorageModel, memory_bytes: int) -> Storage:
    """The bounds of a model, and the parts of it that writes and reads share."""
    resources = model.resources()
    shared = [each for each in resources if {Kind.APPEND, Kind.READ} <= set(each.seconds_per_byte)]
    return Storage(
        model.name,
        memory_bytes,
        alone(resources, Kind.APPEND),
        alone(resources, Kind.READ),
        shared=tuple(
            SharedPart(
                each.name, 1 / each.seconds_per_byte[Kind.APPEND], 1 / each.seconds_per_byte[Kind.READ]
            )
            for each in shared
        ),
    )


def _one_ssd(config: FmsConfig, memory_bytes: int) -> Storage:
    return Storage("ssd", memory_bytes, ONE_SSD_BYTES_PER_SECOND, ONE_SSD_BYTES_PER_SECOND)


def _four_ssds(config: FmsConfig, memory_bytes: int) -> Storage:
    return replace(storage_of(SsdModel(SsdConfig.of(config)), memory_bytes), name="ssd4")


def _fms(config: FmsConfig, memory_bytes: int, *codecs: Codec) -> Storage:
    """The data port carries as many bytes per cycle as all channels together."""
    bounds = storage_of(FmsRates(config), memory_bytes)
    names = tuple(codec.name.lower() for codec in codecs)
    return replace(bounds, port_bytes_per_second=config.channel_bytes_per_second, codecs=names)


OFFLOAD_STORAGES = {
    each.name: each
    for each in (
        OffloadStorage("ssd", "one SSD of 3.2 GB/s", _one_ssd),
        OffloadStorage(
            "ssd-flashneuron",
            "the same behind FlashNeuron's code (lossy)",
            lambda config, memory: replace(
                _one_ssd(config, memory), name="ssd-flashneuron", codecs=(FLASHNEURON_CODEC,)
            ),
        ),
        OffloadStorage("ssd4", "the four SSDs that Behemoth compares with", _four_ssds),
        OffloadStorage(
            "fms", "the flash memory system", lambda config, memory: replace(_fms(config, memory), name="fms")
        ),
        OffloadStorage(
            "fms-codec",
            "the same with the lossless codecs window16 and window32",
            lambda config, memory: replace(
                _fms(config, memory, Codec.WINDOW16, Codec.WINDOW32), name="fms-codec"
            ),
        ),
        OffloadStorage(
            "fms-lossy",
            "the same with round16, too, which rounds FP32 to BF16",
            lambda config, memory: replace(
                _fms(config, memory, Codec.WINDOW16, Codec.WINDOW32, Codec.ROUND16), name="fms-lossy"
            ),
        ),
    )
}
"""By name. The bounds are functions of the configuration (`flashtrain.platform.models`)."""
