"""The runs whose points are compared."""

from collections.abc import Iterator, Mapping
from itertools import cycle
from pathlib import Path

from flashtrain.perf.codec.contents import Contents
from flashtrain.perf.update_case import Case
from flashtrain.spec import FmsConfig, load_config, preset
from flashtrain.spec.optimizer import CopyFormat, GradientFormat
from flashtrain.spec.streams import Codec
from flashtrain.training.optimizers import SGD, SGDW, Adam, AdamW, AdamWScheduleFree, Lion, Momentum, Nesterov
from flashtrain.training.sequence import UpdatePlace

from .point import Role, Run, Workload
from .workloads.appends import NON_VOLATILE, Appends, FlushedAppends, ZoneAfterZone
from .workloads.coded import KEPT, CodedAppends, CodedAppendsAndReads, CodedReads
from .workloads.reads import AppendsAndReads, Reads
from .workloads.sequences import Training
from .workloads.small_reads import SmallReads
from .workloads.steps import OptimizerStep

KIB, MIB = 1 << 10, 1 << 20

OWN, SMALL_SCA, G9_SLICE = FILES = "own_tlc", "small_sca", "g9_slice"
"""The configurations from files."""


def configurations() -> dict[str, FmsConfig]:
    """Configurations of the runs, by name."""
    folder = Path(__file__).parent
    return {
        name: load_config(folder / f"{name}.toml") if name in FILES else preset(name) for name in WORKLOADS
    }


_BF16, _FP16 = GradientFormat.BF16, GradientFormat.FP16

_SMALL: Mapping[str, Workload] = {
    "append_4k_d1": Appends(4 * KIB, 1, 1 * MIB),
    "append_4k_d32": Appends(4 * KIB, 32, 4 * MIB),
    "append_64k_d4": Appends(64 * KIB, 4, 8 * MIB),
    "append_1m_d2": Appends(1 * MIB, 2, 12 * MIB),
    "append_16m_d1": Appends(16 * MIB, 1, 16 * MIB),
    "append_nonvolatile_4k_d8": Appends(4 * KIB, 8, 2 * MIB, NON_VOLATILE),
    "append_nonvolatile_256k_d2": Appends(256 * KIB, 2, 4 * MIB, NON_VOLATILE),
    "flush_4k": FlushedAppends(4 * KIB, 24),
    "flush_52k": FlushedAppends(52 * KIB, 24),
    "flush_512k": FlushedAppends(512 * KIB, 8),
    "zones": ZoneAfterZone(4, 1 * MIB, 4),
    "read_4k_d1": Reads(4 * KIB, 1, 1 * MIB, 1 * MIB),
    "read_4k_d32": Reads(4 * KIB, 32, 8 * MIB, 2 * MIB),
    "read_128k_d2": Reads(128 * KIB, 2, 8 * MIB, 2 * MIB),
    "read_1m_d4": Reads(1 * MIB, 4, 16 * MIB, 2 * MIB),
    "random_4k_d1": Reads(4 * KIB, 1, 1 * MIB, 2 * MIB, random=True),
    "random_4k_d8": Reads(4 * KIB, 8, 4 * MIB, 2 * MIB, random=True),
    "random_4k_d32": Reads(4 * KIB, 32, 8 * MIB, 2 * MIB, random=True),
    "random_32k_d16": Reads(32 * KIB, 16, 12 * MIB, 2 * MIB, random=True),
    "mixed_1_1": AppendsAndReads(1, 32 * KIB, 16, 128, 1 * MIB),
    "mixed_1_3": AppendsAndReads(3, 32 * KIB, 16, 96, 1 * MIB),
    "mixed_1_8_4k": AppendsAndReads(8, 4 * KIB, 32, 384, 1 * MIB),
    "sgd_fp32": OptimizerStep(Case(SGD()), 8),
    "sgd_fp16_copy_bf16": OptimizerStep(Case(SGD(), _FP16, CopyFormat.BF16), 8),
    "momentum_fp32": OptimizerStep(Case(Momentum()), 8),
    "momentum_bf16": OptimizerStep(Case(Momentum(), _BF16), 8),
    "adam_fp32": OptimizerStep(Case(Adam()), 8),
    "adam_fp16_copy_fp16": OptimizerStep(Case(Adam(), _FP16, CopyFormat.FP16), 8),
    "adamw_fp32_copy_bf16": OptimizerStep(Case(AdamW(), GradientFormat.FP32, CopyFormat.BF16), 8),
    "adamw_bf16": OptimizerStep(Case(AdamW(), _BF16), 8),
    "small_reads_d1": SmallReads(1, 400, 2 * MIB, beside_appends=False),
    "small_reads_d4": SmallReads(4, 800, 2 * MIB, beside_appends=False),
    "small_reads_d1_appends": SmallReads(1, 400, 2 * MIB, beside_appends=True),
    "small_reads_d2_appends": SmallReads(2, 600, 2 * MIB, beside_appends=True),
    "training_mlp": Training("mlp", 3),
    "training_mlp_core": Training("mlp", 2, UpdatePlace.CORE),
    "replay_convnet": Training("convnet", 2, replayed=True),
    "replay_mlp_core": Training("mlp", 3, UpdatePlace.CORE, replayed=True),
    "nesterov_bf16": OptimizerStep(Case(Nesterov(), _BF16), 8),
    "adam_beta1_fp16": OptimizerStep(Case(Adam(beta1=0.4), _FP16), 8),
    "adamw_beta1_fp32": OptimizerStep(Case(AdamW(beta1=0.4)), 8),
    "sgdw_fp16": OptimizerStep(Case(SGDW(), _FP16), 8),
    "lion_bf16": OptimizerStep(Case(Lion(), _BF16), 8),
    "adamw_schedule_free_bf16": OptimizerStep(Case(AdamWScheduleFree(), _BF16), 8),
}

_SMALL_ECC: Mapping[str, Workload] = {
    "append_4k_d32": Appends(4 * KIB, 32, 2 * MIB),
    "append_512k_d2": Appends(512 * KIB, 2, 6 * MIB),
    "flush_52k": FlushedAppends(52 * KIB, 12),
    "zones": ZoneAfterZone(3, 1 * MIB, 4),
    "read_1m_d2": Reads(1 * MIB, 2, 8 * MIB, 2 * MIB),
    "random_4k_d16": Reads(4 * KIB, 16, 4 * MIB, 2 * MIB, random=True),
    "mixed_1_1": AppendsAndReads(1, 32 * KIB, 16, 96, 1 * MIB),
    "adam_fp32": OptimizerStep(Case(Adam()), 6),
    "momentum_fp16": OptimizerStep(Case(Momentum(), _FP16), 6),
    "small_reads_d2_appends": SmallReads(2, 300, 2 * MIB, beside_appends=True),
    "replay_mlp": Training("mlp", 2, replayed=True),
}

_TINY_CODEC: Mapping[str, Workload] = {
    "append_dense_1k_d3": CodedAppends(Contents.DENSE, 1 * KIB, 3, appends=12),
    "append_random_1k_d3": CodedAppends(Contents.RANDOM, 1 * KIB, 3, appends=6),
    "append_relu_4k_d1": CodedAppends(Contents.RELU, 4 * KIB, 1, appends=4),
    "read_dense_2k_d4": CodedReads(Contents.DENSE, 2 * KIB, 4, reads=60, stored=4),
    "read_random_1k_d4": CodedReads(Contents.RANDOM, 1 * KIB, 4, reads=60, stored=4),
}

_SMALL_CODEC: Mapping[str, Workload] = {
    "append_dense_1m_d2": CodedAppends(Contents.DENSE, 1 * MIB, 2, appends=8),
    "append_relu_1m_d2": CodedAppends(Contents.RELU, 1 * MIB, 2, appends=8),
    "append_random_1m_d2": CodedAppends(Contents.RANDOM, 1 * MIB, 2, appends=5),
    "append_dense_16k_d8": CodedAppends(Contents.DENSE, 16 * KIB, 8, appends=128),
    "append_nonvolatile_64k_d4": CodedAppends(Contents.DENSE, 64 * KIB, 4, appends=24, stream=KEPT),
    "append_round16_1m_d2": CodedAppends(Contents.DENSE, 1 * MIB, 2, Codec.ROUND16, appends=8),
    "read_dense_1m_d4": CodedReads(Contents.DENSE, 1 * MIB, 4, reads=12, stored=4),
    "read_random_256k_d4": CodedReads(Contents.RANDOM, 256 * KIB, 4, reads=32, stored=8),
    "read_relu_16k_d8": CodedReads(Contents.RELU, 16 * KIB, 8, reads=400, stored=64),
    "read_round16_256k_d4": CodedReads(Contents.DENSE, 256 * KIB, 4, Codec.ROUND16, reads=32, stored=8),
    "mixed_1_2": CodedAppendsAndReads(Contents.DENSE, 64 * KIB, 12, appends=64, reads=2, stored=16),
    "training_mlp_window32": Training("mlp", 3, codec=Codec.WINDOW32),
    "replay_convnet_window32": Training("convnet", 2, replayed=True, codec=Codec.WINDOW32),
    "training_mlp_core_window32": Training("mlp", 2, UpdatePlace.CORE, codec=Codec.WINDOW32),
}

_OPTIMSTORE: Mapping[str, Workload] = {
    "append_16k_d32": Appends(16 * KIB, 32, 8 * MIB),
    "append_4m_d2": Appends(4 * MIB, 2, 16 * MIB),
    "read_16k_d8": Reads(16 * KIB, 8, 8 * MIB, 4 * MIB),
    "read_2m_d4": Reads(2 * MIB, 4, 24 * MIB, 4 * MIB),
    "random_16k_d32": Reads(16 * KIB, 32, 12 * MIB, 4 * MIB, random=True),
    "mixed_1_1": AppendsAndReads(1, 512 * KIB, 8, 24, 2 * MIB),
    "sgd_fp32": OptimizerStep(Case(SGD()), 4),
    "momentum_bf16": OptimizerStep(Case(Momentum(), _BF16), 4),
    "adam_fp32": OptimizerStep(Case(Adam()), 4),
    "adamw_fp16_copy_bf16": OptimizerStep(Case(AdamW(), _FP16, CopyFormat.BF16), 4),
    "small_reads_d2": SmallReads(2, 300, 2 * MIB, beside_appends=False),
    "small_reads_d4_appends": SmallReads(4, 300, 2 * MIB, beside_appends=True),
    "replay_mlp": Training("mlp", 2, replayed=True),
}

_OWN: Mapping[str, Workload] = {
    "append_16k_d4": Appends(16 * KIB, 4, 1 * MIB),
    "append_1m_d2": Appends(1 * MIB, 2, 4 * MIB),
    "zones": ZoneAfterZone(3, 384 * KIB, 4),
    "read_768k_d2": Reads(768 * KIB, 2, 6 * MIB, 1536 * KIB),
    "random_16k_d8": Reads(16 * KIB, 8, 3 * MIB, 1536 * KIB, random=True),
    "mixed_1_3": AppendsAndReads(3, 96 * KIB, 8, 24, 1536 * KIB),
    "adam_fp32": OptimizerStep(Case(Adam()), 4),
    "small_reads_d1_appends": SmallReads(1, 200, 1536 * KIB, beside_appends=True),
}

_SMALL_SCA: Mapping[str, Workload] = {
    "append_4k_d32": Appends(4 * KIB, 32, 2 * MIB),
    "append_64k_d4": Appends(64 * KIB, 4, 4 * MIB),
    "append_1m_d2": Appends(1 * MIB, 2, 6 * MIB),
    "append_nonvolatile_256k_d2": Appends(256 * KIB, 2, 4 * MIB, NON_VOLATILE),
    "flush_4k": FlushedAppends(4 * KIB, 12),
    "flush_52k": FlushedAppends(52 * KIB, 12),
    "zones": ZoneAfterZone(3, 1 * MIB, 4),
    "read_4k_d1": Reads(4 * KIB, 1, 1 * MIB, 1 * MIB),
    "read_4k_d32": Reads(4 * KIB, 32, 4 * MIB, 2 * MIB),
    "read_128k_d2": Reads(128 * KIB, 2, 8 * MIB, 2 * MIB),
    "read_1m_d4": Reads(1 * MIB, 4, 16 * MIB, 2 * MIB),
    "random_4k_d8": Reads(4 * KIB, 8, 4 * MIB, 2 * MIB, random=True),
    "random_32k_d16": Reads(32 * KIB, 16, 8 * MIB, 2 * MIB, random=True),
    "mixed_1_1": AppendsAndReads(1, 32 * KIB, 16, 128, 1 * MIB),
    "mixed_1_3": AppendsAndReads(3, 32 * KIB, 16, 96, 1 * MIB),
    "adam_fp32": OptimizerStep(Case(Adam()), 6),
    "momentum_bf16": OptimizerStep(Case(Momentum(), _BF16), 6),
}

_G9_SLICE: Mapping[str, Workload] = {
    "append_16k_d8": Appends(16 * KIB, 8, 2 * MIB),
    "append_256k_d4": Appends(256 * KIB, 4, 4 * MIB),
    "append_2m_d2": Appends(2 * MIB, 2, 6 * MIB),
    "append_nonvolatile_64k_d8": Appends(64 * KIB, 8, 2 * MIB, NON_VOLATILE),
    "flush_16k": FlushedAppends(16 * KIB, 6),
    "flush_208k": FlushedAppends(208 * KIB, 6),
    "read_16k_d1": Reads(16 * KIB, 1, 1 * MIB, 1 * MIB),
    "read_16k_d8": Reads(16 * KIB, 8, 4 * MIB, 2 * MIB),
    "read_16k_d32": Reads(16 * KIB, 32, 8 * MIB, 2 * MIB),
    "read_512k_d2": Reads(512 * KIB, 2, 8 * MIB, 2 * MIB),
    "read_2m_d4": Reads(2 * MIB, 4, 16 * MIB, 2 * MIB),
    "random_16k_d4": Reads(16 * KIB, 4, 2 * MIB, 2 * MIB, random=True),
    "random_16k_d32": Reads(16 * KIB, 32, 8 * MIB, 2 * MIB, random=True),
    "random_128k_d16": Reads(128 * KIB, 16, 8 * MIB, 2 * MIB, random=True),
    "mixed_1_1": AppendsAndReads(1, 128 * KIB, 16, 32, 2 * MIB),
    "mixed_1_3": AppendsAndReads(3, 128 * KIB, 16, 32, 2 * MIB),
    "adam_fp32": OptimizerStep(Case(Adam()), 2),
}

_BEHEMOTH: Mapping[str, Workload] = {
    "append_4k_d32": Appends(4 * KIB, 32, 4 * MIB),
    "append_64m_d1": Appends(64 * MIB, 1, 64 * MIB),
    "append_2m_d8": Appends(2 * MIB, 8, 48 * MIB),
    "read_8m_d4": Reads(8 * MIB, 4, 48 * MIB, 16 * MIB),
    "random_4k_d32": Reads(4 * KIB, 32, 8 * MIB, 8 * MIB, random=True),
    "mixed_1_1": AppendsAndReads(1, 1 * MIB, 16, 32, 8 * MIB),
    "adam_fp32": OptimizerStep(Case(Adam()), 3),
    "adamw_bf16": OptimizerStep(Case(AdamW(), _BF16), 3),
    "small_reads_d16_appends": SmallReads(16, 800, 8 * MIB, beside_appends=True),
    "replay_mlp": Training("mlp", 1, replayed=True),
}

_BEHEMOTH_WIDE: Mapping[str, Workload] = {
    "append_64m_d2": Appends(64 * MIB, 2, 64 * MIB),
    "read_8m_d4": Reads(8 * MIB, 4, 32 * MIB, 16 * MIB),
    "mixed_1_3": AppendsAndReads(3, 1 * MIB, 16, 20, 8 * MIB),
    "small_reads_d32": SmallReads(32, 800, 8 * MIB, beside_appends=False),
}

_BEHEMOTH_ECC: Mapping[str, Workload] = {
    "append_16m_d2": Appends(16 * MIB, 2, 32 * MIB),
    "read_8m_d4": Reads(8 * MIB, 4, 32 * MIB, 16 * MIB),
    "random_64k_d32": Reads(64 * KIB, 32, 16 * MIB, 8 * MIB, random=True),
    "momentum_fp32": OptimizerStep(Case(Momentum()), 3),
}

_BEHEMOTH_CODEC: Mapping[str, Workload] = {
    "append_dense_3m_d4": CodedAppends(Contents.DENSE, 3 * MIB, 4, appends=16),
    "append_relu_3m_d4": CodedAppends(Contents.RELU, 3 * MIB, 4, appends=16),
    "append_random_3m_d4": CodedAppends(Contents.RANDOM, 3 * MIB, 4, appends=12),
    "append_dense_64k_d16": CodedAppends(Contents.DENSE, 64 * KIB, 16, appends=256),
    "read_dense_3m_d4": CodedReads(Contents.DENSE, 3 * MIB, 4, reads=12, stored=4),
    "read_random_3m_d4": CodedReads(Contents.RANDOM, 3 * MIB, 4, reads=8, stored=4),
}

WORKLOADS: Mapping[str, Mapping[str, Workload]] = {
    "small": _SMALL,
    "small_ecc": _SMALL_ECC,
    "optimstore": _OPTIMSTORE,
    OWN: _OWN,
    SMALL_SCA: _SMALL_SCA,
    G9_SLICE: _G9_SLICE,
    "tiny_codec": _TINY_CODEC,
    "small_codec": _SMALL_CODEC,
    "behemoth": _BEHEMOTH,
    "behemoth_wide": _BEHEMOTH_WIDE,
    "behemoth_ecc": _BEHEMOTH_ECC,
    "behemoth_codec": _BEHEMOTH_CODEC,
}
"""Workloads by configuration and title."""


def _runs() -> Iterator[Run]:
    for name, workloads in WORKLOADS.items():
        for (title, workload), role in zip(workloads.items(), cycle(Role), strict=False):
            yield Run(name, title, workload, role)


RUNS = tuple(_runs())
"""All runs. Those of a configuration are for calibration and held out by turns."""
