"""Optimizer state in 32, 16 and 8 bits, and Muon, on OptimStore's device: rate, energy, iteration, life."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from flashtrain.figures.behemoth_endurance import YEAR
from flashtrain.figures.drives import RATES, has_drives
from flashtrain.figures.figure import PublishedFigure
from flashtrain.figures.optimstore_energy import ENERGY, PARTS, energy_model
from flashtrain.figures.optimstore_lifetime import CYCLES
from flashtrain.figures.optimstore_training import TRAINING, Iteration
from flashtrain.figures.optimstore_ways import GRADIENT, Ways
from flashtrain.figures.parts import Chart, Comparison, Content, Series, Table, Values
from flashtrain.perf.energy import energy
from flashtrain.perf.update_bounds import Bound, limits_on_dies, on_dies
from flashtrain.perf.update_case import ADAM_W16_S8, ADAM_W16_S16, ADAM_W32_S16, ADAM_W32_S32, MUON, Case
from flashtrain.spec import FmsConfig

ROWS = {
    "w32_s32": (ADAM_W32_S32,),
    "w32_s16": (ADAM_W32_S16,),
    "w16_s16": (ADAM_W16_S16,),
    "w16_s8": (ADAM_W16_S8,),
    "muon": MUON,
}
"""Commands of a step, by row: Adam with so many bits of w, and of m and v; and Muon in FP32."""

DIES = (1, 2, 4, 8)


@dataclass(frozen=True)
class Row:
    """A step on all parameters by one or more commands, each at its bound."""

    commands: Sequence[Case]
    values: Values

    @property
    def config(self) -> FmsConfig:
        return Ways(self.values).config

    @cached_property
    def bounds(self) -> list[Bound]:
        return [on_dies(self.config, case.tile(self.config)) for case in self.commands]

    @property
    def rate(self) -> float:
        """Parameters per second that all commands take."""
        return 1 / sum(1 / bound.parameters_per_second for bound in self.bounds)

    @property
    def state_bytes(self) -> float:
        """Bytes of a parameter that a step programs."""
        return sum(case.state_bytes for case in self.commands)

    def joules(self, part: str) -> float:
        """Energy per parameter of a part of the device."""
        config, model, pages = self.config, energy_model(self.values), self.config.geometry.planes
        tiles = [(case, case.tile(config).parameters) for case in self.commands]
        spent = [energy(config, case.work_on_dies(n, pages, pages), model).per(n) for case, n in tiles]
        return sum(getattr(each, part) for each in spent)

    @property
    def buses_bind(self) -> str:
        """The number of dies on a channel, for each command, from which the bus and not the dies bound it."""
        found = []
        for case in self.commands:
            limits = limits_on_dies(self.config, case.tile(self.config))
            of_dies = min(limits["arrays"], limits["update units"]) / self.values["dies"]
            found.append(f"{limits['buses'] / of_dies:.1f}")
        return " and ".join(found)

    def with_dies(self, count: float) -> "Row":
        return Row(self.commands, {**self.values, "dies": count})


class OptimStoreState(PublishedFigure):
    name = "optimstore-state"
    title = "Optimizer state in 16 bits on OptimStore's device"
    headline_name = "iteration of GPT-2 XL with Adam, state in FP32 over state in BF16"
    drives = RATES
    assumptions = (*(each for each in TRAINING if each is not GRADIENT), *ENERGY, CYCLES)

    def headline(self, values: Values) -> float:
        iteration, rows = _iteration(values), _rows(values)
        return _seconds(iteration, rows["w32_s32"]) / _seconds(iteration, rows["w16_s16"])

    def content(self, values: Values) -> Content:
        iteration, rows = _iteration(values), _rows(values)
        seconds = {name: _seconds(iteration, row) for name, row in rows.items()}
        lives = {name: iteration.life(row.commands, values[CYCLES.name]) for name, row in rows.items()}
        return Content(
            comparisons=(
                Comparison(self.headline_name, self.headline(values), "times"),
                Comparison(
                    "step with Adam, state in BF16 over state in FP32",
                    rows["w16_s16"].rate / rows["w32_s32"].rate,
                    "times",
                ),
                Comparison(
                    "iterations in a life, state in BF16 over state in FP32",
                    lives["w16_s16"] / lives["w32_s32"],
                    "times",
                ),
                *_of_drives(iteration, seconds["w16_s16"], values),
            ),
            charts=(
                Chart(
                    "Steps over the dies of a channel",
                    "G parameters/s",
                    tuple(
                        Series(name, DIES, tuple(row.with_dies(count).rate / 1e9 for count in DIES))
                        for name, row in rows.items()
                    ),
                    "dies of a channel",
                ),
                Chart(
                    "Energy of a parameter",
                    "nJ",
                    tuple(
                        Series(part, (), tuple(row.joules(part) * 1e9 for row in rows.values()))
                        for part in PARTS
                        if part != "link"
                    ),
                    categories=tuple(rows),
                ),
            ),
            tables=(
                Table(
                    "A step",
                    (
                        "state",
                        "bytes",
                        "M parameters/s",
                        "bound by",
                        "nJ per parameter",
                        "dies at which buses bind",
                    ),
                    tuple(
                        (
                            name,
                            row.state_bytes,
                            row.rate / 1e6,
                            " and ".join(bound.part for bound in row.bounds),
                            row.joules("total") * 1e9,
                            row.buses_bind,
                        )
                        for name, row in rows.items()
                    ),
                ),
                Table(
                    "An iteration of GPT-2 XL",
                    ("state", "seconds", "of them the step", "M iterations in a life", "years of training"),
                    tuple(
                        (
                            name,
                            seconds[name],
                            seconds[name] - iteration.passes,
                            lives[name] / 1e6,
                            lives[name] * seconds[name] / YEAR,
                        )
                        for name in rows
                    ),
                ),
            ),
            notes=(
                "Steps are at their bounds; `flashtrain bench` measures them on RTL. Gradients have 16 bits,"
                " those of Muon's momentum 32. Weights in FP32 come back as copies in BF16 with Adam, not"
                " with Muon. The host's orthogonalisation of Muon's directions takes no time here.",
                "Nothing of this is published: OptimStore keeps state in FP32.",
            ),
        )


def _of_drives(iteration: Iteration, on_dies: float, values: Values) -> list[Comparison]:
    """The host's update in FP32 on drives, if there are any."""
    if not has_drives(values):
        return []
    what = "iteration of GPT-2 XL with Adam, FP32 on drives and the host over state in BF16 on the dies"
    return [Comparison(what, iteration.on_host / on_dies, "times")]


def _iteration(values: Values) -> Iteration:
    return Iteration({**values, GRADIENT.name: GRADIENT.value})


def _rows(values: Values) -> dict[str, Row]:
    whole = {**values, GRADIENT.name: GRADIENT.value}
    return {name: Row(commands, whole) for name, commands in ROWS.items()}


def _seconds(iteration: Iteration, row: Row) -> float:
    """Of an iteration; the step follows the passes."""
    return iteration.passes + iteration.parameters / row.rate
