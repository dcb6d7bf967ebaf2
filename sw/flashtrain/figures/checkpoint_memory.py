"""Memory that checkpoints free: jobs of training on a node whose DRAM is too small for all of them."""

from math import inf

from flashtrain.checkpoint.memory.report import Activity, NodeReport
from flashtrain.figures.checkpoint_memory_runs import (
    ASSUMPTIONS,
    DIES,
    FMS,
    KEEP,
    OURS,
    PAIRS,
    POLICIES,
    SEED,
    SERIAL,
    SSD,
    STORES,
    SWAP,
    Runs,
)
from flashtrain.figures.checkpoint_platform import GB, OF_DRIVES
from flashtrain.figures.figure import PublishedFigure
from flashtrain.figures.parts import Chart, Comparison, Content, Series, SpanChart, SpanRow, Table, Values

AIM = 0.05
"""A slowdown that counts as reached: the project's aim, which is not published."""

DRAM_GB = (40, 48, 56, 64, 72, 80, 96, 128, 192, 256)
QUANTUM_MINUTES = (0.5, 1, 2, 5, 10, 20, 30, 60, 120)
HOUR = 3600
TIMELINE_HOURS = 6
COLUMNS = ("slower", "peak, GB", "stall, s", "written, GB", "P/E cycles")
NO_ROOM = "does not fit"
KINDS = tuple(str(activity) for activity in reversed(Activity) if activity is not Activity.FREED)
OF_PAIRS_OR_FMS = ("room", "pcie_gb", "fms_fault_us")


class CheckpointMemory(PublishedFigure):
    name = "checkpoint-memory"
    title = "Memory freed by checkpoints"
    headline_name = "% that two jobs in the DRAM of little more than one are slower, poster's SSD, worst pair"
    assumptions = ASSUMPTIONS
    drives_headline_name = (
        "% that two jobs in the DRAM of little more than one are slower, drives, worst pair"
    )
    drives = {**OF_DRIVES, "ssd_fault_us": ("drives_read_us", 1.0), "ssd_gb": ("drives_tb", 1000.0)}
    drives_optional = ("drives_read_us", "drives_tb")

    def headline(self, values: Values) -> float:
        return 100 * Runs(values).slowest(OURS, SSD)

    def content(self, values: Values) -> Content:
        runs = Runs(values)
        return Content(
            comparisons=(
                *(
                    Comparison(
                        f"two jobs in the DRAM of {values['room']:g}, {store}: slower, worst of"
                        f" {len(PAIRS)} pairs",
                        100 * runs.slowest(OURS, store), "%",
                    )
                    for store in STORES
                ),
                *(
                    Comparison(
                        f"nine jobs, {store}: least DRAM of the sweep within {AIM:.0%} of all resident in"
                        f" {runs.all_held(store) / GB:.0f} GB",
                        dram, "GB",
                    )
                    for store in STORES
                    if (dram := _least_dram(runs, store)) is not None
                ),
            ),
            charts=(
                *(_over_dram(runs, store) for store in (SSD, FMS)),
                _over_quanta(runs),
                _timeline(runs),
            ),
            tables=(
                *(_pair_table(runs, pair) for pair in PAIRS),
                _nine_table(runs),
                _least_quanta(runs),
                _nine_swept(values),
            ),
            notes=(
                "The poster announces memory freed by checkpoints as work in progress, so there is no"
                " published value. Its table of hardware is kept. Its iteration times, batches and cached"
                " data are not public.",
                "A job holds cached data, weights, Adam's state and pinned buffers in DRAM. It computes when"
                " its state, its buffers and the samples of its next quantum are there. The storage has the"
                " cached data, so they are dropped and read again.",
                "Swap is the operating system's: the least recently used job releases pages, which come back"
                " by page faults. Its pages of cached data are written once. Two jobs never thrash here: the"
                " second waits. Both choices favour it.",
                "One after the other is as fast for two jobs that never wait, but the second one waits for"
                " hours. With waits for data its accelerators idle.",
                "With the state on the dies the optimizer's steps program the flash in any case (docs/"
                "on-die-update.md); the table counts what freeing memory adds.",
                f"Waits for data are drawn with the seed {SEED}, for each job anew.",
                "Moves between host and accelerator are part of iterations. A job on another accelerator than"
                " before takes no time to move.",
            ),
        )  # fmt: skip


def _least_dram(runs: Runs, store: str) -> float | None:
    """Of the sweep; None if even the largest is too slow."""
    resident = runs.of_nine(KEEP, store)
    assert resident is not None
    for dram in DRAM_GB:
        report = runs.of_nine(OURS, store, dram)
        if report is not None and report.seconds <= (1 + AIM) * resident.seconds:
            return dram
    return None


def _over_dram(runs: Runs, store: str) -> Chart:
    series = []
    for label, policy in POLICIES.items():
        sizes = (runs.all_held(store) / GB,) if policy is KEEP else DRAM_GB
        points = [(size, runs.of_nine(policy, store, size)) for size in sizes]
        fitting = [(float(size), report.seconds / HOUR) for size, report in points if report is not None]
        if fitting:
            series.append(Series(label, *zip(*fitting, strict=True)))
    return Chart(f"Nine jobs, {store}: hours until all have finished", "h", tuple(series), "DRAM, GB")


def _over_quanta(runs: Runs) -> Chart:
    lines = [("swap", SWAP, SSD), *(("checkpoint those that wait", OURS, store) for store in STORES)]
    series = []
    for label, policy, store in lines:
        points = [(minutes, 100 * runs.slowest(policy, store, minutes)) for minutes in QUANTUM_MINUTES]
        fitting = [point for point in points if 0 < point[1] < inf]
        if fitting:
            series.append(Series(f"{label}, {store}", *zip(*fitting, strict=True)))
    return Chart(
        f"Two jobs in the DRAM of {runs.values['room']:g}: slowdown over the quantum, worst pair",
        "%", tuple(series), "minutes of a quantum", levels={f"aim, {AIM:.0%}": 100 * AIM},
        log_x=True, log_y=True,
    )  # fmt: skip


def _timeline(runs: Runs) -> SpanChart:
    report = runs.of_nine(OURS, SSD)
    end, rows = TIMELINE_HOURS * HOUR, []
    for job in runs.nine:
        own = () if report is None else (span for span in report.spans if span.job == job.name)
        spans = (
            (str(span.activity), span.start / HOUR, min(span.end, end) / HOUR)
            for span in own
            if span.activity is not Activity.FREED and span.start < end
        )
        rows.append(SpanRow(job.name, tuple(spans)))
    return SpanChart(
        f"Nine jobs in {runs.values['dram_gb']:g} GB, {SSD}: the first {TIMELINE_HOURS} hours;"
        " the memory of a job in a gap is freed",
        "h", KINDS, tuple(rows),
    )  # fmt: skip


def _cells(report: NodeReport | None, needed: NodeReport | None) -> tuple[str, ...]:
    if report is None or needed is None:
        return (NO_ROOM, *("–" for _ in COLUMNS[1:]))
    return (
        f"{round(report.seconds / needed.seconds - 1, 4) + 0.0:.2%}", f"{report.peak_bytes / GB:.1f}",
        f"{report.stall_seconds:,.0f}", f"{report.written_bytes / GB:,.1f}", f"{report.pe_cycles:.3f}",
    )  # fmt: skip


def _pair_table(runs: Runs, pair: str) -> Table:
    rows = []
    for store in STORES:
        needed = runs.of_pair(pair, KEEP, store)
        for label, policy in POLICIES.items():
            rows.append((store, label, *_cells(runs.of_pair(pair, policy, store), needed)))
    return Table(f"Two jobs on one accelerator: {pair}", ("storage", "policy", *COLUMNS), tuple(rows))


def _nine_table(runs: Runs) -> Table:
    rows = []
    for store in STORES:
        needed = runs.of_nine(KEEP, store)
        for label, policy in POLICIES.items():
            report = runs.of_nine(policy, store)
            times = ("–", "–") if report is None else (
                f"{report.seconds / HOUR:.2f}", f"{report.mean_completion_seconds / HOUR:.2f}"
            )  # fmt: skip
            rows.append((store, label, *times, *_cells(report, needed)))
    return Table(
        f"Nine jobs in {runs.values['dram_gb']:g} GB",
        ("storage", "policy", "all finished, h", "mean completion, h", *COLUMNS), tuple(rows),
    )  # fmt: skip


def _least_quanta(runs: Runs) -> Table:
    """The shortest quanta of the sweep from which on two jobs keep the aim."""
    rows = []
    for store in (SSD, FMS, DIES):
        cells = []
        for policy in (SWAP, OURS):
            least: float | str = "–"
            for minutes in reversed(QUANTUM_MINUTES):
                if runs.slowest(policy, store, minutes) > AIM:
                    break
                least = minutes
            cells.append(least)
        rows.append((store, *cells))
    return Table(
        f"Least minutes of a quantum at which the worst pair is at most {AIM:.0%} slower",
        ("storage", "swap", "checkpoint those that wait"), tuple(rows),
    )  # fmt: skip


def _nine_swept(values: Values) -> Table:
    """The nine jobs with each assumption that concerns them at both ends of its range."""
    rows = []
    for assumption in ASSUMPTIONS:
        if assumption.name not in OF_PAIRS_OR_FMS:
            for value in (assumption.low, assumption.high):
                runs = Runs({**values, assumption.name: value})
                needed = runs.of_nine(KEEP, SSD)
                cells = (_cells(runs.of_nine(policy, SSD), needed)[0] for policy in (SERIAL, SWAP, OURS))
                rows.append((f"`{assumption.name}` = {value:g}", *cells))
    return Table(
        f"Nine jobs, {SSD}: slower than all resident, with one assumption changed",
        ("assumption", *(label for label, policy in POLICIES.items() if policy is not KEEP)), tuple(rows),
    )  # fmt: skip
