"""The endurance of Behemoth's flash: years of training, with the retention that activations need."""

from collections.abc import Mapping

from flashtrain.figures.behemoth_runs import SHARED, Runs
from flashtrain.figures.drives import RATES, has_drives
from flashtrain.figures.figure import PublishedFigure
from flashtrain.figures.parts import (
    BEHEMOTH,
    Assumption,
    Chart,
    Comparison,
    Content,
    Relation,
    Series,
    Table,
    Values,
)
from flashtrain.platform.report import IterationReport
from flashtrain.platform.workloads import WORKLOADS
from flashtrain.spec import preset
from flashtrain.spec.streams import Retention

YEAR = 365.25 * 86_400
WORKLOAD = "gpt 1x2"
"""Of the headline: its rate of appends is that of all rows of GPT, within a few per cent."""
LIFESPAN = "gpt 2x4"
"""The workload of the published lifespan: 34.21 PFLOP at 840 TFLOP/s take 40.7 s."""
WRITTEN = "drives_written_pb"
CYCLES = Assumption(
    "pe_cycles", 2e6, 2e5, 2e6, "cycles",
    "40 times 50,000 (slides: at least 40 times); the example of the same slide is 200,000",
)  # fmt: skip
DUTY = Assumption("duty", 1, 0.5, 1, "", "share of the five years in which the node trains; not published")
WAF = Assumption("waf", 1, 1, 1.05, "", "write amplification (slides: about 1)")


class BehemothEndurance(PublishedFigure):
    name = "behemoth-endurance"
    title = "Endurance of Behemoth's flash"
    headline_name = f"years of an activation node with {WORKLOAD}"
    drives_headline_name = f"years of an activation node with {WORKLOAD} on the drives"
    assumptions = (CYCLES, DUTY, WAF, *SHARED)
    drives = {**RATES, WRITTEN: (WRITTEN, 1.0)}

    def headline(self, values: Values) -> float:
        return _years(values, _write_rate(_run(values, WORKLOAD)))

    def content(self, values: Values) -> Content:
        runs = {name: _run(values, name) for name in WORKLOADS}
        rates = {name: _write_rate(report) for name, report in runs.items()}
        years = {name: _years(values, rate) for name, rate in rates.items()}
        least = min(years, key=years.__getitem__)
        return Content(
            comparisons=(
                Comparison(
                    f"years of an activation node, least of twelve workloads ({least})",
                    years[least],
                    "years",
                    5,
                    f"{BEHEMOTH}: five years",
                    Relation.AT_LEAST,
                    why="with the example of the slide, 200,000 cycles, no workload would reach five years",
                ),
                Comparison(
                    f"longest lifespan of an activation ({LIFESPAN})",
                    _lifespan(runs[LIFESPAN]),
                    "s",
                    41,
                    f"{BEHEMOTH}: max. data lifespan, GPT-3",
                    tolerance=0.1,
                    why="ours lasts as long as an iteration, which stalls of the storage make longer",
                ),
            ),
            charts=(_of_drives(years) if has_drives(values) else _over_cycles(values, rates),),
            tables=(
                Table(
                    "Activation nodes with drives" if has_drives(values) else "Activation nodes with an FMS",
                    ("workload", "GB/s appended, mean", "years", f"{_unit(values)} for five years"),
                    tuple(
                        (name, rates[name] / 1e9, years[name], _endurance(values) * 5 / years[name])
                        for name in WORKLOADS
                    ),
                ),
            ),
            notes=(
                "Appends wear all blocks evenly, since a zone is erased whole and the least worn one is taken"
                " next.",
            ),
        )


def _run(values: Values, workload: str) -> IterationReport:
    return Runs(values).run(workload, "ssd" if has_drives(values) else "fms")


def _write_rate(report: IterationReport) -> float:
    """Bytes per second that an activation node appends, over the whole iteration."""
    return report.timeline.bytes("storage append") / report.seconds


def _years(values: Values, rate: float, cycles: float | None = None) -> float:
    """Until each block of the FMS has had so many cycles, or those of the assumption.

    Of drives: until the host has written what they endure, whatever their own amplification is.
    """
    if has_drives(values):
        written = values[WRITTEN] * 1e15
    else:
        written = preset("behemoth").geometry.capacity_bytes * (cycles or values["pe_cycles"]) / values["waf"]
    return written / (rate * values["duty"]) / YEAR


def _unit(values: Values) -> str:
    return "PB written" if has_drives(values) else "cycles"


def _endurance(values: Values) -> float:
    """In that unit."""
    return values[WRITTEN if has_drives(values) else "pe_cycles"]


def _over_cycles(values: Values, rates: Mapping[str, float]) -> Chart:
    cycles = tuple(retention.endurance for retention in reversed(Retention))
    return Chart(
        "Years over the P/E cycles of the cells",
        "years",
        tuple(
            Series(name, cycles, tuple(_years(values, rates[name], float(c)) for c in cycles))
            for name in ("gpt 1x1", "gpt 2x4", "t5 1x1", "t5 2x4")
        ),
        "P/E cycles: data last years, days, minutes",
        levels={"published, five years": 5},
        log_y=True,
    )


def _of_drives(years: Mapping[str, float]) -> Chart:
    return Chart(
        "Years until the drives have had the bytes that they endure",
        "years",
        (Series("drives", (), tuple(years.values())),),
        categories=tuple(years),
        levels={"published, five years": 5},
    )


def _lifespan(report: IterationReport) -> float:
    """Seconds from the first append of an activation to the end of the last read."""
    appends, reads = report.timeline.on("storage append"), report.timeline.on("storage read")
    return max(read.end for read in reads) - min(append.start for append in appends)
