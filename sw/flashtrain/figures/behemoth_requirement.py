"""The bandwidth that Behemoth's core requires, and the bandwidth that the geometry of the slides has."""

from dataclasses import replace

from flashtrain.figures.drives import RATES, drive_rates, has_drives
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
from flashtrain.perf.read_bound import read_bound
from flashtrain.platform.models import append_bound
from flashtrain.platform.workloads import WORKLOADS
from flashtrain.platform.workloads.behemoth import GPT_PHI, T5_PHI
from flashtrain.spec import FmsConfig, preset
from flashtrain.spec.timing import ns

WORKLOAD = "gpt 2x4"
"""Its 16 micro-batches are the batch of 16 in the footnote of the slide."""
DIES = (1, 2, 4, 8)


class BehemothRequirement(PublishedFigure):
    name = "behemoth-requirement"
    title = "Bandwidth that Behemoth requires"
    headline_name = f"GB/s that the forward pass of {WORKLOAD} appends"
    drives_headline_name = f"writes of the drives over what the forward pass of {WORKLOAD} appends"
    drives = RATES
    assumptions = (
        Assumption("phi_gpt", GPT_PHI, 0.114, 0.129, "", "share of the activations that reaches the flash"),
        Assumption("phi_t5", T5_PHI, 0.038, 0.043, "", "the same for T5"),
        Assumption("tflops", 840, 420, 1680, "TFLOP/s", "example of the slides"),
        Assumption("forward_share", 1 / 3, 0.25, 0.4, "", "of the FLOPs: one of three equal products"),
        Assumption("dies", 2, 2, 4, "dies", "of a channel, slides"),
        Assumption("tprog_us", 100, 83, 100, "µs", "slides"),
    )

    def headline(self, values: Values) -> float:
        demand = _demand(values, WORKLOAD)
        return drive_rates(values)[1] / 1e9 / demand if has_drives(values) else demand

    def content(self, values: Values) -> Content:
        device = _device(values, round(values["dies"]))
        limits = [_device(values, dies) for dies in DIES]
        demands = {name: _demand(values, name) for name in WORKLOADS}
        return Content(
            comparisons=(
                Comparison(
                    f"demand of the forward pass, {WORKLOAD}",
                    demands[WORKLOAD],
                    "GB/s",
                    50,
                    f"{BEHEMOTH}: 50 GB/s",
                    why="the share of activations was chosen so that behemoth-throughput comes out as"
                    " published, and this demand follows from it",
                ),
                Comparison(
                    "appends of the FMS, zone after zone",
                    append_bound(device) / 1e9,
                    "GB/s",
                    50,
                    f"{BEHEMOTH}: more than 50 GB/s",
                    Relation.AT_LEAST,
                    why="128 dies of 8 planes that program 4 KiB in 100 µs write 41.9 GB/s, and 39.4 with the"
                    " erases; four dies in a channel or a tPROG of 77 µs would be enough",
                ),
                Comparison(
                    "reads of the FMS",
                    read_bound(device).bytes_per_second / 1e9,
                    "GB/s",
                    50,
                    f"{BEHEMOTH}: more than 50 GB/s",
                    Relation.AT_LEAST,
                ),
                *_of_drives(values),
            ),
            charts=(
                Chart(
                    "Bandwidth of an FMS of 64 channels over the dies of a channel",
                    "GB/s",
                    (
                        Series("appends", DIES, tuple(append_bound(c) / 1e9 for c in limits)),
                        Series(
                            "reads",
                            DIES,
                            tuple(read_bound(c).bytes_per_second / 1e9 for c in limits),
                        ),
                    ),
                    "dies of a channel",
                    levels={
                        "published, 50 GB/s": 50,
                        f"demand of {WORKLOAD}": demands[WORKLOAD],
                        **{each.what: each.ours for each in _of_drives(values)},
                    },
                ),
            ),
            tables=(
                Table(
                    "Demand of one node",
                    ("workload", "forward, GB/s appended", "backward, GB/s read"),
                    tuple((name, demand, _backward(values, demand)) for name, demand in demands.items()),
                ),
            ),
            notes=("Activations alone count; weights lie on other nodes.",),
        )


def _of_drives(values: Values) -> list[Comparison]:
    """Their bandwidths, if there are drives."""
    if not has_drives(values):
        return []
    rates = drive_rates(values)
    return [
        Comparison(f"{way} of the drives", rate / 1e9, "GB/s")
        for way, rate in zip(("reads", "writes"), rates, strict=True)
    ]


def _demand(values: Values, name: str) -> float:
    """GB of activations that are appended per second of the forward pass."""
    workload = WORKLOADS[name]
    phi = values["phi_gpt" if name.startswith("gpt") else "phi_t5"]
    forward = values["forward_share"] * workload.total_flops / (values["tflops"] * 1e12)
    return phi * workload.total_activation_bytes / forward / 1e9


def _backward(values: Values, demand: float) -> float:
    """The same bytes are read in the backward pass."""
    return demand * values["forward_share"] / (1 - values["forward_share"])


def _device(values: Values, dies: int) -> FmsConfig:
    behemoth = preset("behemoth")
    return replace(
        behemoth,
        name=f"behemoth_{dies}",
        geometry=replace(behemoth.geometry, dies=dies),
        timing=replace(behemoth.timing, tprog=ns(values["tprog_us"] * 1000)),
    )
