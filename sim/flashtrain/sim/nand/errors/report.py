"""The raw bit error rate over wear and age, beside what the code of a page corrects."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from flashtrain.spec.ecc import RAW_BIT_ERROR_RATE, UNCORRECTABLE_RATE, PageCode, uncorrectable_rate
from flashtrain.spec.streams import Retention
from flashtrain.writing.figure import save_figure

from .model import ErrorModel

AGES = {
    "none": 0.0,
    "1 minute": 1 / 1440,
    "1 hour": 1 / 24,
    "3 days": 3.0,
    "1 year": 365.0,
    "5 years": 1825.0,
}
CYCLES = (0, 1_000, 10_000, 50_000, 100_000, 200_000, 2_000_000)

ALL_LOST = 0.005
"""At this rate no code word can be corrected."""


def rate_table(model: ErrorModel, code: PageCode) -> str:
    """Raw bit error rates, and in a second table the code words lost per bit read."""

    def rate(cycles: int, days: float) -> float:
        return replace(model, cycles_before=cycles).bit_error_rate(days=days)

    def lost(cycles: int, days: float) -> str:
        raw = rate(cycles, days)
        return "all" if raw > ALL_LOST else f"{uncorrectable_rate(code, raw):.0e}"

    rates = _table("raw bit error rate", lambda *at: f"{rate(*at):.1e}")
    return f"{rates}\n\n{_table('words lost per bit', lost)}"


def draw_rates(model: ErrorModel, code: PageCode, path: Path) -> None:
    """Draw the rate over wear, a line for each age, into `path`, whose ending names the format."""
    figure = Figure(figsize=(8, 5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    cycles = np.geomspace(1_000, 2_500_000, 100)
    for name, days in AGES.items():
        rates = [replace(model, cycles_before=round(c)).bit_error_rate(days=days) for c in cycles]
        axes.loglog(cycles, rates, label=f"age {name}")
    axes.axhline(RAW_BIT_ERROR_RATE, color="black", linewidth=1)
    axes.annotate(
        f"{code.strength} bits of a code word are corrected:\n"
        f"{uncorrectable_rate(code):.0e} words lost per bit (wanted: below {UNCORRECTABLE_RATE:.0e})",
        (cycles[0] * 1.1, RAW_BIT_ERROR_RATE * 1.3),
        fontsize=9,
    )
    ends = [retention.endurance for retention in Retention]
    axes.plot(ends, [RAW_BIT_ERROR_RATE] * len(ends), "ko", label="end of a class of retention")
    axes.set_ylim(5e-10, 20 * RAW_BIT_ERROR_RATE)
    axes.set_xlabel("P/E cycles")
    axes.set_ylabel("raw bit error rate")
    axes.grid(alpha=0.3)
    axes.legend(loc="lower right", fontsize=8)
    save_figure(figure, path)


def _table(title: str, cell: Callable[[int, float], str]) -> str:
    lines = [f"| {title} | " + " | ".join(f"age {name}" for name in AGES) + " |"]
    lines.append("|---" * (1 + len(AGES)) + "|")
    for cycles in CYCLES:
        cells = " | ".join(cell(cycles, days) for days in AGES.values())
        lines.append(f"| {cycles:,} cycles | {cells} |")
    return "\n".join(lines)
