"""The flash memory system beside arrays of drives of 2026: bandwidth, iteration, cost, energy and life."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from flashtrain.figures.behemoth_endurance import CYCLES, YEAR
from flashtrain.figures.behemoth_runs import PHI_T5, PLATFORM, Runs
from flashtrain.figures.drives import PRICE, RATES
from flashtrain.figures.figure import PublishedFigure
from flashtrain.figures.optimstore_energy import ENERGY, energy_model
from flashtrain.figures.parts import Assumption, Chart, Comparison, Content, Series, Table, Values
from flashtrain.perf.energy import EnergyModel, Work, energy
from flashtrain.platform.fms import FmsModel
from flashtrain.platform.models import DriveModel
from flashtrain.platform.report import IterationReport
from flashtrain.spec import preset
from flashtrain.ssd.drive_array import DriveArray, array_named
from flashtrain.ssd.pcie import PcieLink

WORKLOAD = "gpt 1x2"
HEADLINE, MEASURED = "micron-9650:4", "deepnvme-gen5:8"
ARRAYS = (
    "deepnvme-gen4:4", "micron-7500:4", "micron-7500:8", "deepnvme-gen5:4", MEASURED, "micron-9550:4",
    "micron-9550:8", HEADLINE, "micron-9650:8",
)  # fmt: skip
FMS = "FMS"
PRESET = "behemoth"
GENERATIONS = (4, 5, 6)
UNKNOWN = "–"
BENCH = "RTL of `behemoth`: `flashtrain bench"

FMS_READ = Assumption(
    "fms_read_gb", 70.26, 70.26, 70.41, "GB/s", f"{BENCH} read_sequential`; at most its bound"
)
FMS_APPEND = Assumption(
    "fms_append_gb", 41.943, 39.081, 41.943, "GB/s", f"{BENCH} append_erased`; with erases append_sustained"
)
FLASH = Assumption(
    "slc_factor", 3, 1, 3, "",
    "price of a GB of the FMS over one of the drives: a cell holds one bit in place of three; an assumption",
)  # fmt: skip
_PLATFORM = tuple(each for each in PLATFORM if each is not PHI_T5)
DEVICE_ENERGY = tuple(
    each for each in ENERGY if each.name not in ("link_pj", "operation_pj", "instruction_pj")
)


@dataclass(frozen=True)
class Rival:
    """A storage in all nodes of the platform: drives, or the FMS without any."""

    values: Values
    array: DriveArray | None = None

    @property
    def name(self) -> str:
        return self.array.name if self.array else FMS

    @property
    def read(self) -> float:
        """GB/s."""
        return self.array.read / 1e9 if self.array else self.values[FMS_READ.name]

    @property
    def write(self) -> float:
        """GB/s, into erased flash."""
        return self.array.write / 1e9 if self.array else self.values[FMS_APPEND.name]

    @cached_property
    def report(self) -> IterationReport:
        """An iteration: the FMS simulated command by command, drives at their bandwidths."""
        model = DriveModel(self.array.read, self.array.write) if self.array else FmsModel()
        return Runs(self.values).run_on(WORKLOAD, model)

    @property
    def appended(self) -> float:
        """Bytes of an iteration."""
        return self.report.timeline.bytes("storage append")

    @property
    def terabytes(self) -> float | None:
        if self.array:
            return self.array.of_all("capacity_tb")
        return preset(PRESET).geometry.capacity_bytes / 1e12

    @property
    def dollars(self) -> float | None:
        if self.terabytes is None:
            return None
        price = self.values[PRICE.name] * (1 if self.array else self.values[FLASH.name])
        return self.terabytes * 1000 * price

    @property
    def joules(self) -> float | None:
        """Of an iteration: all watts of the drives; of the FMS its arrays and buses, and nothing else."""
        if self.array:
            watts = self.array.of_all("watts")
            return None if watts is None else watts * self.report.seconds
        config = preset(PRESET)
        page = config.geometry.page_bytes
        read = self.report.timeline.bytes("storage read")
        work = Work(round(self.appended / page), round(read / page), round(self.appended + read))
        return energy(config, work, energy_model({**_NO_LINK, **self.values})).total

    @property
    def years(self) -> float | None:
        """Of training without a pause, until cells or drives have had what they endure."""
        if self.array:
            terabytes = self.array.of_all(self.array.endurance or "")
            endured = None if terabytes is None else terabytes * 1e12
        else:
            endured = preset(PRESET).geometry.capacity_bytes * self.values[CYCLES.name]
        return None if endured is None else endured / (self.appended / self.report.seconds) / YEAR

    def beats(self, other: "Rival") -> bool:
        """Reads and writes are both faster."""
        return self.read > other.read and self.write > other.write


class Drives2026(PublishedFigure):
    name = "drives-2026"
    title = "The flash memory system beside drives of 2026"
    headline_name = f"iteration of {WORKLOAD} on {HEADLINE} over one on the FMS"
    assumptions = (FMS_READ, FMS_APPEND, PRICE, FLASH, CYCLES, *_PLATFORM, *DEVICE_ENERGY)
    drives = RATES

    def on(self, array: DriveArray) -> "Drives2026":
        """With these drives beside the others."""
        figure = Drives2026()
        figure.storage = array
        return figure

    def headline(self, values: Values) -> float:
        drives, fms = Rival(values, array_named(HEADLINE)), Rival(values)
        return drives.report.seconds / fms.report.seconds

    def content(self, values: Values) -> Content:
        names = (*ARRAYS, *([self.storage.name] if self.storage and self.storage.name not in ARRAYS else []))
        fms = Rival(values)
        drives = [Rival(values, array_named(name)) for name in names]
        rivals = [fms, *drives]
        labels = tuple(rival.name for rival in rivals)
        seconds = tuple(rival.report.seconds for rival in rivals)
        return Content(
            comparisons=(
                Comparison("reads of the FMS", fms.read, "GB/s"),
                Comparison("appends of the FMS into erased zones", fms.write, "GB/s"),
                *_of(next(each for each in drives if each.name == HEADLINE), fms),
                *_of(next(each for each in drives if each.name == MEASURED), fms),
            ),
            charts=(
                Chart(
                    "Bandwidth",
                    "GB/s",
                    (
                        Series("reads", (), tuple(rival.read for rival in rivals)),
                        Series("writes", (), tuple(rival.write for rival in rivals)),
                    ),
                    categories=_wrapped(labels),
                    levels={"FMS reads": fms.read, "FMS appends": fms.write},
                ),
                Chart(
                    f"Iteration of {WORKLOAD}",
                    "s",
                    (Series("seconds", (), seconds),),
                    categories=_wrapped(labels),
                    levels={"FMS": fms.report.seconds},
                ),
            ),
            tables=(
                Table(
                    f"Storages of a node, {WORKLOAD}",
                    (
                        "storage", "GB/s read", "GB/s written", "iteration, s", "over the FMS", "TB", "$",
                        "J of an iteration", "years", "beats the FMS",
                    ),
                    tuple(_row(rival, fms) for rival in rivals),
                ),
                _behind_links(fms),
            ),
            notes=(
                "The FMS is an accelerator's own memory, and has no link to a host here. The last table has"
                " it behind one. Drives have four lanes each.",
                "Drives have the bandwidths of their data sheets, or those that DeepNVMe measured in an"
                " application. Eight measured ones read 0.4 of what their links carry.",
                "A drive takes all its watts, with controller and DRAM. The energy of the FMS is that of"
                " arrays and buses: its controller and DRAM have no measured power. They do not compare.",
                "Cost is capacity times a price. The FMS has 2 TB. Drives of such bandwidth come in larger"
                " capacities, which the workload does not need.",
                "Years are of training without a pause. Cells of the FMS have their cycles, and drives the"
                " bytes that their makers state, mostly for five years.",
            ),
            verdict=_verdict(drives, fms),
        )  # fmt: skip


_NO_LINK = {
    "link_pj": EnergyModel.link_joules_per_bit * 1e12,
    "operation_pj": EnergyModel.operation_joules * 1e12,
    "instruction_pj": EnergyModel.instruction_joules * 1e12,
}
"""Constants of work that a storage does not do."""


def _verdict(drives: Sequence[Rival], fms: Rival) -> str:
    """Where drives win, in a sentence."""
    won = [each for each in drives if each.beats(fms)]
    if not won:
        return (
            f"No drives here read and write more than the FMS with {fms.read:.1f} and {fms.write:.1f} GB/s."
        )
    each = "; ".join(f"{rival.name} with {rival.read:.0f} and {rival.write:.0f} GB/s" for rival in won)
    return (
        f"The drives win where they read and write more than the FMS with {fms.read:.1f} and {fms.write:.1f}"
        f" GB/s: {each}."
    )


def _of(rival: Rival, fms: Rival) -> list[Comparison]:
    return [
        Comparison(f"reads of {rival.name}", rival.read, "GB/s"),
        Comparison(f"writes of {rival.name}", rival.write, "GB/s"),
        Comparison(
            f"iteration of {WORKLOAD} on {rival.name} over one on the FMS",
            rival.report.seconds / fms.report.seconds, "times",
        ),
    ]  # fmt: skip


def _row(rival: Rival, fms: Rival) -> tuple[str | float, ...]:
    known = (
        UNKNOWN if value is None else f"{value:,.{digits}f}"
        for value, digits in (
            (rival.terabytes, 1), (rival.dollars, 0), (rival.joules, 0), (rival.years, 1),
        )
    )  # fmt: skip
    beats = UNKNOWN if rival.array is None else "yes" if rival.beats(fms) else "no"
    seconds = rival.report.seconds
    return (rival.name, rival.read, rival.write, seconds, seconds / fms.report.seconds, *known, beats)


def _behind_links(fms: Rival) -> Table:
    rows = []
    for generation in GENERATIONS:
        link = PcieLink(generation, 16)
        rate = link.bytes_per_second / 1e9
        rows.append((str(link), rate, min(rate, fms.read), min(rate, fms.write)))
    return Table("The FMS behind a link", ("link", "GB/s one way", "GB/s read", "GB/s written"), tuple(rows))


def _wrapped(labels: Sequence[str]) -> tuple[str, ...]:
    """Names on two lines."""
    return tuple(label.replace("-", "\n", 1) for label in labels)
