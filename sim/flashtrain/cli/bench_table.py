"""The table of benchmarks: which of them `flashtrain bench` carries out on which configuration."""

from collections.abc import Sequence
from typing import NamedTuple

from flashtrain.perf.one_channel import OCOWFC
from flashtrain.perf.sdr_chips import SDR_SLC
from flashtrain.spec import PRESETS, FlashtrainError

from .benchmarks import ALL_BENCHMARKS, SYSTEM_BENCHMARKS
from .model_error import ALL, NAME

CONFIGURATIONS = {**PRESETS, OCOWFC.name: OCOWFC, SDR_SLC.name: SDR_SLC}


class UnknownBenchmark(FlashtrainError):
    """No benchmark has this name."""

    def __init__(self, name: str) -> None:
        super().__init__(f"no benchmark {name!r}; expected some of {', '.join(ALL_BENCHMARKS)}")


class Row(NamedTuple):
    """A benchmark, and the name of the configuration that it is carried out on."""

    benchmark: str
    configuration: str


FULL_SCALE = (
    Row("append_erased", "behemoth"),
    Row("append_sustained", "behemoth"),
    Row("read_sequential", "behemoth"),
    Row("mixed_1_1", "behemoth"),
    Row("mixed_1_3", "behemoth"),
    Row("read_latency_p99", "behemoth"),
    Row("append_erased", "behemoth_wide"),
    Row("update_adam", "behemoth"),
    Row("command_time_write", "behemoth"),
    Row("command_time_read", "behemoth"),
    Row("read_random", "behemoth"),
    Row("ocowfc_single_page", "ocowfc"),
    Row("ocowfc_cached", "ocowfc"),
    Row("append_sdr", "sdr_slc"),
    Row("read_sdr", "sdr_slc"),
    Row("metadata_bytes", "behemoth"),
    Row("buffer_bytes", "behemoth"),
    Row("simulation_speed", "behemoth"),
    Row("pcie_command_time_write", "behemoth"),
    Row("pcie_command_time_read", "behemoth"),
    Row("model_speed", "behemoth"),
    Row("model_speed_read", "behemoth"),
    Row("model_speed_random", "behemoth"),
    Row("model_iteration", "behemoth"),
)
CODED = tuple(
    Row(name, "behemoth_codec")
    for name in ("append_codec", "append_codec_relu", "append_codec_random", "read_codec")
)
SMALL_SCALE = tuple(
    Row(name, "small")
    for name in (
        "append_erased", "read_sequential", "read_small", "append_latency", "command_interval",
        "simulation_speed",
        "update_adam", "update_adam_bf16", "update_adam_w32_s16", "update_adam_w16_s16",
        "update_adam_w16x16_s16", "update_adam_w16_s8", "update_momentum", "update_sgd", "update_muon",
        "update_speedup_host", "update_speedup_controller", "update_energy_ratio", "recovery_time",
        "training_iteration", "training_overlap",
        "checkpoint_pin", "checkpoint_stall", "checkpoint_copy_out", "checkpoint_append",
        "trace_speed", "image_speed", "serve_throughput", "serve_iops",
        "offload_speed", "offload_speed_codec", "checkpoint_load_speed", "dataset_speed",
        "dataset_speed_shuffled", "die_step_speed", "pcie_append", "pcie_read",
        "pcie_latency_write", "pcie_latency_read",
    )
)  # fmt: skip
OPTIMSTORE = tuple(
    Row(name, "optimstore")
    for name in (
        "append_erased", "read_sequential", "metadata_bytes", "buffer_bytes",
        "update_adam", "update_adam_bf16", "update_adam_w32_s16", "update_adam_w16_s16",
        "update_adam_w16x16_s16", "update_adam_w16_s8", "update_momentum", "update_sgd",
        "update_speedup_host", "update_speedup_pcie4", "update_speedup_controller",
        "update_energy_ratio",
    )
)  # fmt: skip
G9 = tuple(
    Row(name, configuration)
    for configuration in ("g9_slc", "g9_drive")
    for name in ("append_erased", "read_sequential", "mixed_1_1", "mixed_1_3")
)
TINY_SCALE = (Row("wear_spread", "tiny"), Row("wave_speed", "tiny"))
TABLE = (*FULL_SCALE, *CODED, *SMALL_SCALE, *OPTIMSTORE, *G9, *TINY_SCALE, Row(NAME, ALL))

_SMALLER = {
    "behemoth_codec": "small_codec",
    "behemoth": "small",
    "behemoth_wide": "tiny",
    "small": "tiny",
    "optimstore": "tiny",
    "g9_slc": "small",
    "g9_drive": "small",
}


def _smaller(row: Row) -> Row:
    """The row on a smaller configuration, unless no device is simulated cycle by cycle."""
    if row.benchmark in SYSTEM_BENCHMARKS and not SYSTEM_BENCHMARKS[row.benchmark].shrinks:
        return row
    return Row(row.benchmark, _SMALLER.get(row.configuration, row.configuration))


QUICK_TABLE = tuple(dict.fromkeys(_smaller(row) for row in TABLE))
"""The same rows, each on a smaller configuration."""


def rows_for(names: Sequence[str], configuration: str | None, quick: bool) -> list[Row]:
    """The rows asked for.

    Without a configuration those of the table with one of `names`, or all; with it each of `names` on it, or
    the rows of the table that are on it. Raises `UnknownBenchmark`.
    """
    for name in names:
        if name not in ALL_BENCHMARKS:
            raise UnknownBenchmark(name)
    table = QUICK_TABLE if quick else TABLE
    if configuration is None:
        return [row for row in table if not names or row.benchmark in names]
    if names:
        return [Row(name, configuration) for name in names]
    return [row for row in table if row.configuration == configuration]
