"""The workload `ssd_bandwidth`: conventional SSDs made of the parts of the configuration (flashtrain.ssd)."""

from collections.abc import Mapping
from dataclasses import dataclass

from flashtrain.spec.limits import integer
from flashtrain.ssd.bench import bandwidths
from flashtrain.ssd.config import DRIVES_OF_DEVICE, SsdConfig
from flashtrain.sweep.limits import Options, Value, number
from flashtrain.sweep.point import Point, Workload


@dataclass(frozen=True)
class SsdOptions(Options):
    """The drives, and the length of a run; the limits of `SsdConfig` have the meaning of its fields."""

    drives: int = integer(1, 64, "", "drives in RAID 0", DRIVES_OF_DEVICE)
    firmware_cores: int = integer(1, 64, "", "cores of the firmware of each", 1)
    write_ns: int = integer(0, 1_000_000, "ns", "firmware's time for each 4 KiB page written", 1450)
    read_ns: int = integer(0, 1_000_000, "ns", "controller's time for each read command", 1930)
    over_provisioning: float = number(0.001, 1, "", "physical pages beyond the logical ones", 0.07)
    commands: int = integer(1, 1 << 20, "", "commands of 1 MiB for each drive", 64)


def _drives(point: Point) -> SsdConfig:
    options = point.options
    assert isinstance(options, SsdOptions)
    return SsdConfig.of(
        point.config,
        options.drives,
        firmware_cores=options.firmware_cores,
        write_ns=options.write_ns,
        read_ns=options.read_ns,
        over_provisioning=options.over_provisioning,
    )


def _check(point: Point) -> None:
    _drives(point)


def _measure(point: Point) -> Mapping[str, Value]:
    """Of writes the row with the firmware of the point, which comes before that with many cores."""
    values: dict[str, Value] = {}
    for row in bandwidths(_drives(point), point.options.commands):
        name = row.name.replace(",", "").replace(" ", "_")
        if f"{name}.bytes_per_second" not in values:
            values[f"{name}.bytes_per_second"] = row.value
            values[f"{name}.bound"] = row.bound
            values[f"{name}.bound_by"] = row.part
    return values


SSD_BANDWIDTH = Workload(
    "bandwidths of conventional SSDs made of these dies", _measure, options=SsdOptions, check=_check
)
