"""OptimStore's energy: a step on the dies against one on the host."""

from dataclasses import replace

from flashtrain.figures.drives import RATES, has_drives
from flashtrain.figures.figure import PublishedFigure
from flashtrain.figures.optimstore_ways import DEVICE, HOST, Ways
from flashtrain.figures.parts import (
    OPTIMSTORE,
    Assumption,
    Chart,
    Comparison,
    Content,
    Relation,
    Series,
    Table,
    Values,
)
from flashtrain.perf.energy import Energy, EnergyModel, energy

MODEL = EnergyModel()
WATTS = "drives_watts"
OF_DRIVES = (
    "Drives take all their watts for as long as the step lasts on them, with controller and DRAM. The energy"
    " of the dies has neither. The host is the default of optimstore-step.",
)
HOROWITZ = "Horowitz, ISSCC 2014"
DATASHEET = "NAND01G-B2B data sheet, Numonyx 2008"
OPTIMIZERS_SHOWN = ("sgd", "momentum", "adam", "adamw")
ENERGY = (
    Assumption("supply_volts", MODEL.supply_volts, 1.8, 3.6, "V", DATASHEET),
    Assumption("program_ma", MODEL.program_amperes * 1e3, 5, 20, "mA", f"a plane programs; {DATASHEET}"),
    Assumption("sense_ma", MODEL.sense_amperes * 1e3, 5, 20, "mA", f"a plane senses; {DATASHEET}"),
    Assumption("channel_pj", MODEL.channel_joules_per_bit * 1e12, 2, 10, "pJ/bit", "half of C V², 10 pF"),
    Assumption(
        "link_pj",
        MODEL.link_joules_per_bit * 1e12,
        15,
        50,
        "pJ/bit",
        f"with the host's memory; {HOROWITZ}",
    ),
    Assumption("operation_pj", MODEL.operation_joules * 1e12, 1, 10, "pJ", f"a multiply-add; {HOROWITZ}"),
    Assumption("instruction_pj", MODEL.instruction_joules * 1e12, 2, 70, "pJ", f"overhead; {HOROWITZ}"),
)
"""The constants of the energy model, as assumptions."""

PARTS = ("array", "channel", "link", "computing")


class OptimStoreEnergy(PublishedFigure):
    name = "optimstore-energy"
    title = "Energy of OptimStore's optimizer step"
    headline_name = "energy on the host over energy on the dies, Adam"
    assumptions = (*ENERGY, *DEVICE)
    drives = {**RATES, WATTS: (WATTS, 1.0)}

    def headline(self, values: Values) -> float:
        dies, host = _energies(values, "adam")
        return host.total / dies.total

    def content(self, values: Values) -> Content:
        found = {optimizer: _energies(values, optimizer) for optimizer in OPTIMIZERS_SHOWN}
        dies, host = found["adam"]
        both = [each for pair in found.values() for each in pair]
        needed = values["link_pj"] * (1 + (3.6 * dies.total - host.total) / host.link) if host.link else 0.0
        return Content(
            comparisons=(
                Comparison(
                    "energy of a step on the host over one on the dies, Adam",
                    self.headline(values),
                    "times",
                    3.6,
                    f"{OPTIMSTORE}: 3.6 on average",
                    Relation.AT_LEAST,
                    why=f"the arrays take {dies.array / dies.total:.0%} of a step on the dies, and as much on"
                    f" the host; a link of {needed:.1f} pJ for a bit gives 3.6 times",
                ),
            ),
            charts=(
                Chart(
                    "Energy of a parameter",
                    "nJ",
                    tuple(
                        Series(part, (), tuple(getattr(each, part) * 1e9 for each in both)) for part in PARTS
                    ),
                    categories=tuple(f"{name}, {place}" for name in found for place in ("dies", "host")),
                ),
            ),
            tables=(
                Table(
                    "nJ for a parameter",
                    ("optimizer", "place", *PARTS, "all"),
                    tuple(
                        (name, place, *(getattr(e, p) * 1e9 for p in PARTS), e.total * 1e9)
                        for name, pair in found.items()
                        for place, e in zip(("dies", "host"), pair, strict=True)
                    ),
                ),
            ),
            notes=(
                "No energy constant of the publication is known; ours are from public text.",
                *(OF_DRIVES if has_drives(values) else ()),
            ),
        )


def _energies(values: Values, optimizer: str) -> tuple[Energy, Energy]:
    """Joules of a parameter on the dies and on the host, from the work on one tile."""
    ways = Ways(values, optimizer)
    config, case, model = ways.config, ways.case, energy_model(values)
    count, pages = case.tile(config).parameters, config.geometry.planes
    dies = case.work_on_dies(count, pages, pages)
    host = case.work_on_host(count, pages, pages)
    on_dies = energy(config, dies, model).per(count)
    if has_drives(values):
        # All that the drives take, for as long as the step lasts on them.
        rate = Ways({**values, HOST.name: HOST.value}, optimizer).host.parameters_per_second
        host = replace(host, programs=0, senses=0, channel_bytes=0)
        return on_dies, replace(energy(config, host, model).per(count), array=values[WATTS] / rate)
    return on_dies, energy(config, host, model).per(count)


def energy_model(values: Values) -> EnergyModel:
    """With the constants `ENERGY` of a figure."""
    return EnergyModel(
        supply_volts=values["supply_volts"],
        program_amperes=values["program_ma"] * 1e-3,
        sense_amperes=values["sense_ma"] * 1e-3,
        channel_joules_per_bit=values["channel_pj"] * 1e-12,
        link_joules_per_bit=values["link_pj"] * 1e-12,
        operation_joules=values["operation_pj"] * 1e-12,
        instruction_joules=values["instruction_pj"] * 1e-12,
    )
