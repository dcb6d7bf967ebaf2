"""Drives in the place of a figure's own storage (`flashtrain figure --storage`), as assumptions."""

from collections.abc import Mapping

from flashtrain.figures.parts import Assumption, Values
from flashtrain.ssd.drive_array import DriveArray

APPLICATION_SHARE = 0.4
"""What an application may get of a data sheet: DeepNVMe read 6 GB/s from each of eight drives, whose links
carry 14.4 GB/s. An assumption, the low end of each rate."""
PRICE = Assumption(
    "drives_usd_per_gb", 0.356, 0.1, 0.356, "$/GB",
    "VDURA: $10,950 for a TLC drive of 30 TB early in 2026, $3,062 in 2025 (servernews.ru/1135611)",
)  # fmt: skip
DRIVES_READ, DRIVES_WRITE = "drives_read_gb", "drives_write_gb"
RATES: Mapping[str, tuple[str, float]] = {DRIVES_READ: (DRIVES_READ, 1.0), DRIVES_WRITE: (DRIVES_WRITE, 1.0)}
"""What most figures take of drives: see `PublishedFigure.drives`."""


def drive_assumptions(array: DriveArray) -> dict[str, Assumption]:
    """All that is known of the drives, by name."""
    low = APPLICATION_SHARE if array.sheet else 1.0
    found = {
        name: Assumption(
            name, rate / 1e9, low * rate / 1e9, rate / 1e9, "GB/s", f"{array.source}; all drives"
        )
        for name, rate in ((DRIVES_READ, array.read), (DRIVES_WRITE, array.write))
    }
    if array.sheet:
        for name, key, unit, scale in (
            ("drives_tb", "capacity_tb", "TB", 1.0), ("drives_watts", "watts", "W", 1.0),
            ("drives_written_pb", array.endurance or "", "PB", 1e-3),
        ):  # fmt: skip
            if (value := array.of_all(key)) is not None:
                reason = f"{array.sheet.values[key].source}; all drives"
                found[name] = Assumption(name, scale * value, scale * value, scale * value, unit, reason)
        if (latency := array.sheet.get("read_us")) is not None:
            source = array.sheet.values["read_us"].source
            found["drives_read_us"] = Assumption("drives_read_us", latency, latency, latency, "µs", source)
        found[PRICE.name] = PRICE
    return found


def has_drives(values: Values) -> bool:
    """Whether the figure has drives in the place of its own storage."""
    return DRIVES_READ in values


def drive_rates(values: Values) -> tuple[float, float]:
    """Bytes per second read and written by drives."""
    return values[DRIVES_READ] * 1e9, values[DRIVES_WRITE] * 1e9
