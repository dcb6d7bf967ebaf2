"""The files of the SDR part, in the order in which simulators take them. The top is `sdr_part`."""

from pathlib import Path

PART = [
    Path(__file__).parent / "sdr" / f"sdr_{name}.sv"
    for name in ("times", "alarm", "checks", "output", "parameter_page", "array", "part")
]
