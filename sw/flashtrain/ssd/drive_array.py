"""Arrays of drives by name, with their bandwidth: by a data sheet, or as an application measured them."""

from dataclasses import dataclass

from flashtrain.spec.errors import require

from .sheet import GB, SHEETS, DataSheet, sheet_named

MEASURED_BY = "DeepSpeed, blogs/deepnvme/03-2025: 1 GB between memory of an accelerator and a RAID 0"
MEASURED = {
    "deepnvme-gen5": {8: (48.0, 26.0), 4: (27.0, 11.0)},
    "deepnvme-gen4": {4: (10.0, 5.0)},
}
"""GB/s read and written, by name and number of drives: of Azure's drives, whose makers are not public."""
DEFAULT_DRIVES, MOST_DRIVES = 4, 64


@dataclass(frozen=True)
class DriveArray:
    """Drives in RAID 0, each on a link of its own. read, write: bytes per second, of all together.

    sheet: of each drive; None for a measured array, of which nothing else is known.
    """

    name: str
    drives: int
    read: float
    write: float
    source: str
    sheet: DataSheet | None = None

    def of_all(self, key: str) -> float | None:
        """A value of the sheet, times the drives; None if it is not published."""
        value = self.sheet.get(key) if self.sheet else None
        return None if value is None else self.drives * value

    @property
    def endurance(self) -> str | None:
        """The key of the bytes that drives endure: written in order, as tensors are, if the sheet has it."""
        keys = ("written_in_order_tb", "written_tb")
        return next((key for key in keys if self.sheet and key in self.sheet.values), None)


def array_named(name: str) -> DriveArray:
    """`NAME` or `NAME:DRIVES`: of a data sheet, or a measured one. :class:`ConfigError` for others."""
    base, _, count = name.partition(":")
    known = (*SHEETS, *MEASURED)
    require(base in known, "storage", name, f"NAME or NAME:DRIVES with a NAME of {', '.join(known)}")
    drives = int(count) if count.isdecimal() and len(count) < 4 else 0 if count else DEFAULT_DRIVES
    if base in MEASURED:
        counts = MEASURED[base]
        require(drives in counts, "storage", name, f"so many drives of {base} as were measured: "
                f"{' or '.join(map(str, counts))}")  # fmt: skip
        read, write = counts[drives]
        return DriveArray(f"{base}:{drives}", drives, read * GB, write * GB, MEASURED_BY)
    require(1 <= drives <= MOST_DRIVES, "storage", name, f"1 to {MOST_DRIVES} drives after the colon")
    sheet = sheet_named(base)
    read, write = (drives * sheet[key] * GB for key in ("read_gb", "write_gb"))
    return DriveArray(f"{base}:{drives}", drives, read, write, f"data sheet of {sheet.model}", sheet)
