"""The poster's result: the share of training time in which nine models wait for their checkpoints."""

from dataclasses import replace

from flashtrain.checkpoint.models.training_model import MODELS
from flashtrain.checkpoint.systems import (
    AppendState,
    CheckpointSystem,
    PCcheck,
    PinAndCopy,
    PinState,
)
from flashtrain.figures.checkpoint_platform import MEASURED, OF_DRIVES, RATES, SYSTEMS, TRAINING, Machine
from flashtrain.figures.drives import has_drives
from flashtrain.figures.figure import PublishedFigure
from flashtrain.figures.parts import (
    BYTE_CHECKPOINT,
    BYTE_CHECKPOINT_LATER,
    CHECKMATE,
    CHECKPOINT_POSTER,
    GOCKPT,
    GOCKPT_LATER,
    Assumption,
    Chart,
    Comparison,
    Content,
    Relation,
    Series,
    Table,
    Values,
)

HEADLINE = "gpt2"
INTERVALS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
PUBLIC_INTERVALS = {"NVIDIA's BERT": 200, "Trainer": 500, "nanoGPT": 2000}
"""Iterations between checkpoints, by default: `run_pretraining.sh`, `save_steps` and `eval_interval`."""
BERT_BOUND, GPT2_BOUND, LEAST_BOUND, LARGEST_BOUND = 1.0, 5.0, 1.0, 5.0
"""Per cent: the poster's text, and the caption of its figure 1."""
PIN_BOUND = 0.01
"""Per cent: the criterion of this project."""

INTERVAL = Assumption(
    "interval", PUBLIC_INTERVALS["Trainer"], PUBLIC_INTERVALS["NVIDIA's BERT"], PUBLIC_INTERVALS["nanoGPT"],
    "iterations",
    "between checkpoints of language models, the poster has none: `save_steps` of transformers' Trainer by"
    " default; low: NVIDIA's BERT, high: nanoGPT",
)  # fmt: skip
EPOCHS = (
    Assumption(
        "epoch_images",
        1_281_167,
        50_000,
        1_281_167,
        "images",
        "of an epoch, after each of which torchvision's scripts save: ImageNet",
    ),
    Assumption("epoch_sequences", 88_000, 10_000, 1e6, "sequences", "of an epoch: SQuAD"),
    Assumption("accelerators", 2, 1, 2, "", "that share an epoch: the poster's machine"),
)
LANGUAGE = ("bert", "gpt")
LARGEST = "gpt-neo-1.3b"
LINKS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""GB/s: from a link that others take, too, to more than PCIe 4.0 x16."""

PAPERS = Table(
    "Published by the papers of three newer systems, on their machines",
    ("system", "published", "source"),
    (
        (
            "Checkmate",
            "throughput comparable to training without checkpoints, one at every iteration",
            CHECKMATE,
        ),
        (
            "Checkmate",
            "5 to 34.5 times as many checkpoints as others, 80 to 97.1 % less repeated work",
            CHECKMATE,
        ),
        ("Checkmate", "1.3 to 6.5 times the throughput of others at the same interval", CHECKMATE),
        ("GoCkpt", "up to 38.4 % more throughput than asynchronous checkpoints", GOCKPT),
        ("GoCkpt", "86.7 % less interruption than the best copies before it, 4.8 % more throughput", GOCKPT),
        (
            "GoCkpt",
            "0.2 to 1.8 % below training without checkpoints, every 50 and 200 iterations",
            GOCKPT_LATER,
        ),
        ("ByteCheckpoint", "stalls 54.20 times shorter, on the mean", BYTE_CHECKPOINT),
        ("ByteCheckpoint", "saves up to 9.96 and loads up to 8.80 times faster", BYTE_CHECKPOINT),
        ("ByteCheckpoint", "stalls 12.13 to 161.50 times shorter than Megatron's", BYTE_CHECKPOINT_LATER),
    ),
)


class CheckpointStall(PublishedFigure):
    name = "checkpoint-stall"
    title = "Checkpoint stall of nine models"
    headline_name = f"% of the time of {HEADLINE} that waits for files on the poster's drive"
    drives_headline_name = f"% of the time of {HEADLINE} that waits for files on the drives"
    drives = OF_DRIVES
    assumptions = (INTERVAL, *EPOCHS, *RATES, *TRAINING, *SYSTEMS)

    def headline(self, values: Values) -> float:
        machine = Machine(values)
        return _percent(machine.file, machine, HEADLINE, round(values["interval"]))

    def content(self, values: Values) -> Content:
        machine = Machine(values)
        interval = round(values["interval"])
        files = {model: _percent(machine.file, machine, model, _interval(values, model)) for model in MODELS}
        every = {
            system.name: {model: _percent(system, machine, model, 1) for model in MODELS}
            for system in machine.systems
        }
        published = _published(machine, files)
        names = tuple(MODELS)
        return Content(
            comparisons=(*published, *_ours(machine, every)),
            charts=(
                Chart(
                    "Files on the poster's drive",
                    "% of the time",
                    (
                        Series("at public intervals", (), tuple(files.values())),
                        Series(
                            f"every {interval} iterations",
                            (),
                            tuple(_percent(machine.file, machine, model, interval) for model in MODELS),
                        ),
                    ),
                    categories=names,
                    levels={"published, 1 %": BERT_BOUND, "published, 5 %": LARGEST_BOUND},
                ),
                Chart(
                    "A checkpoint at every iteration",
                    "% of the time",
                    tuple(Series(name, (), tuple(each.values())) for name, each in every.items()),
                    categories=names,
                    levels={f"{PIN_BOUND} %": PIN_BOUND},
                    log_y=True,
                ),
                _over_interval(machine),
            ),
            tables=(
                _models(machine, files, values),
                _over_public_intervals(machine, values),
                _over_ends(values),
                _every_iteration(every),
                _shadow(machine),
                _over_link(values),
                PAPERS,
                _sensitivity_of_pins(values),
            ),
            notes=(
                "The poster has neither batches, iteration times nor intervals, so its percentages cannot be"
                " recomputed. Its rule can: T / (T + k t), for a checkpoint of T every k iterations of t.",
                "Iterations of seven models are as long as others measured them on RTX 3090. Iterations of"
                " GPT-Neo and GoogLeNet follow from their FLOPs. Intervals are defaults of public scripts.",
                "No time of `torch.save` on this drive is public. A file takes"
                f" {_save_rate(machine):.2f} GB/s here, with the copy to the host. With free memory the page"
                " cache may take it faster, for `torch.save` does not wait for the drive.",
                "A file holds weights and Adam's moments, 12 bytes per parameter. torchvision's scripts train"
                " with SGD, and write its state twice after an epoch: 16 bytes.",
                "The sizes and FLOPs of the models are captured from their public definitions. GPT-Neo has"
                " 1.3 G parameters here; the poster names no size.",
                "CheckFreq's copy has the rate of its public code. ByteCheckpoint, PCcheck, GoCkpt and"
                " `append` copy through pinned memory at the rate of the link.",
                "The formulas of Checkmate, GoCkpt and ByteCheckpoint follow public descriptions. Their"
                " measurements are on other machines, whose iteration times and rates are not public text.",
                "An FMS with the state in memory is a fast drive, and no more: `append` moves 12 bytes per"
                " parameter and checkpoint. Its stall is 0 where the passes hide all of that.",
                "With the state on the dies no state moves. Only buffers do, such as the statistics of batch"
                " norms. Iterations are as long as with updates on the accelerator.",
            ),
            verdict="" if has_drives(values) else _verdict(published),
        )


def _percent(system: CheckpointSystem, machine: Machine, model: str, interval: int) -> float:
    return 100 * system.overhead(machine.measured_job(model), interval)


def _epoch(values: Values, model: str) -> int:
    """Iterations of an epoch."""
    examples = values["epoch_sequences" if model.startswith(LANGUAGE) else "epoch_images"]
    return max(1, round(examples / (Machine(values).batch(model) * values["accelerators"])))


def _interval(values: Values, model: str) -> int:
    """Iterations between checkpoints of public scripts: transformers for language, torchvision for images."""
    return round(values["interval"]) if model.startswith(LANGUAGE) else _epoch(values, model)


def _save_rate(machine: Machine) -> float:
    """GB/s of a file, end to end."""
    job = machine.measured_job(HEADLINE)
    return job.state_bytes / machine.file.stall_seconds(job, 1) / 1e9


def _published(machine: Machine, files: dict[str, float]) -> list[Comparison]:
    largest, least = max(files, key=files.__getitem__), min(files, key=files.__getitem__)
    most, more = Relation.AT_MOST, Relation.AT_LEAST
    cases = (
        ("bert-base", "bert-base", BERT_BOUND, most, "less than 1 % on BERT"),
        ("bert-large", "bert-large", BERT_BOUND, most, "less than 1 % on BERT"),
        ("gpt2", "gpt2", GPT2_BOUND, most, "5 % on GPT-2"),
        (f"largest of nine ({largest})", largest, LARGEST_BOUND, most, "1 % to 5 %"),
        (f"least of nine ({least})", least, LEAST_BOUND, more, "1 % to 5 %"),
    )
    found = []
    for what, model, bound, relation, text in cases:
        comparison = Comparison(
            f"stall with files at public intervals, {what}", files[model], "%", bound,
            f"{CHECKPOINT_POSTER}: {text}", relation,
        )  # fmt: skip
        why = "" if comparison.reached else _reason(machine, model, bound, comparison.ours)
        found.append(replace(comparison, why=why))
    return found


def _verdict(published: list[Comparison]) -> str:
    """The part of the poster's statement that holds, and by how much the rest is missed."""
    reached = sum(bool(each.reached) for each in published)
    base, large, gpt2, most, least = (each.ours for each in published)
    return (
        f"The poster's statement holds in {reached} of {len(published)} parts with public intervals and"
        " iterations."
        f" BERT-Base has {base:.2f} % and BERT-Large {large:.2f} % of less than {BERT_BOUND:g} %."
        f" GPT-2 has {gpt2:.2f} % of {GPT2_BOUND:g} %. The nine models have {least:.2f} % to {most:.2f} %"
        f" instead of {LEAST_BOUND:g} % to {LARGEST_BOUND:g} %."
    )


def _reason(machine: Machine, model: str, bound: float, percent: float) -> str:
    """The interval and the rate of files with which the stall is at the bound."""
    job = machine.measured_job(model)
    needed = machine.file.least_interval(job, bound / 100)
    minutes = needed * job.iteration_seconds / 60
    rate = _save_rate(machine) * percent / (100 - percent) * (100 - bound) / bound
    return (
        f"a file every {needed:,} iterations or {minutes:.1f} minutes has {bound:g} %, and so has a file at"
        f" {rate:.2g} GB/s; interval, batch and"
        " iteration time of the poster are not public"
    )


def _ours(machine: Machine, every: dict[str, dict[str, float]]) -> list[Comparison]:
    """Ours has no published value; the criterion is this project's."""
    pins, copies, appends = (every[kind.name] for kind in (PinState, PinAndCopy, AppendState))
    waiting = replace(machine.pin, record_exposed=1.0)
    waits = {model: _percent(waiting, machine, model, 1) for model in MODELS}
    record = f"`commit(pin=True)` has one record and avoids the wait of {machine.values['record_us']:g} µs"
    cases = (
        ("stall with a pin at every iteration", pins, _criterion(pins)),
        ("the same, if the pin has a record of its own", waits, f"{_criterion(waits)}; {record}"),
        ("stall with a pin at every iteration and copies beside training", copies, ""),
        ("stall with the state in memory, appended at every iteration", appends, ""),
    )
    return [
        Comparison(f"{what}, largest of nine ({_largest(percents)})", max(percents.values()), "%", why=why)
        for what, percents, why in cases
    ]


def _criterion(percents: dict[str, float]) -> str:
    state = "keeps" if max(percents.values()) <= PIN_BOUND else "exceeds"
    return f"{state} this project's bound of {PIN_BOUND} %"


def _largest(percents: dict[str, float]) -> str:
    return max(percents, key=percents.__getitem__)


def _over_interval(machine: Machine) -> Chart:
    series = []
    for system in machine.systems:
        percents = {k: _percent(system, machine, HEADLINE, k) for k in INTERVALS}
        series.append(Series(system.name, tuple(map(float, percents)), tuple(percents.values())))
    return Chart(
        f"Over the interval, {HEADLINE}",
        "% of the time",
        tuple(series),
        "iterations between checkpoints",
        levels={"published, 5 %": GPT2_BOUND},
        log_y=True,
        log_x=True,
    )


def _models(machine: Machine, files: dict[str, float], values: Values) -> Table:
    rows = []
    for name, model in MODELS.items():
        job, file = machine.measured_job(name), machine.file
        stall = file.stall_seconds(job, 1)
        minutes = [
            file.least_interval(job, bound / 100) * job.iteration_seconds / 60
            for bound in (BERT_BOUND, LARGEST_BOUND)
        ]
        rows.append((
            name, f"{model.parameters / 1e6:.1f}", f"{job.state_bytes / 1e9:.3f}",
            f"{machine.batch(name):g}", "measured" if name in MEASURED else "FLOPs", job.iteration_seconds,
            stall, file.load_seconds(job), machine.pin.load_seconds(job),
            _interval(values, name), files[name], *minutes,
        ))  # fmt: skip
    header = (
        "model", "M parameters", "GB of a checkpoint", "batch", "iteration from", "iteration, s", "file, s",
        "restore, s", "restore of a pin, s",
        "public interval", "% at the public interval", "minutes for 1 %", "minutes for 5 %",
    )  # fmt: skip
    return Table("Files on the poster's drive, and restores", header, tuple(rows))


def _over_public_intervals(machine: Machine, values: Values) -> Table:
    rows = []
    for name in MODELS:
        epoch = _epoch(values, name)
        shares = (_percent(machine.file, machine, name, each) for each in (*PUBLIC_INTERVALS.values(), epoch))
        rows.append((name, *shares, epoch))
    header = (
        "model", *(f"every {each:,}, {script}" for script, each in PUBLIC_INTERVALS.items()),
        "every epoch, torchvision", "iterations of an epoch",
    )  # fmt: skip
    return Table("% of the time with files, over intervals of public scripts", header, tuple(rows))


def _over_ends(values: Values) -> Table:
    """The models of the poster's text over the ends of the assumptions about iterations and files."""
    (share,) = (each for each in SYSTEMS if each.name == "file_share")
    rows = []
    for model in ("bert-base", "bert-large", HEADLINE):
        rate = MEASURED[model].rate
        found = []
        for at_rate, at_share in ((rate.low, share.high), (rate.high, share.low)):
            machine = Machine({**values, rate.name: at_rate, share.name: at_share})
            found.append(_percent(machine.file, machine, model, _interval(values, model)))
        rows.append((model, rate.low, rate.high, *found))
    header = (
        "model", "examples/s, low end", "examples/s, high end", "%, slow iterations and fast files",
        "%, fast iterations and slow files",
    )  # fmt: skip
    return Table("% of the time with files, over the ends of rates and `file_share`", header, tuple(rows))


def _shadow(machine: Machine) -> Table:
    rows = []
    for name in MODELS:
        job, checkmate = machine.measured_job(name), machine.checkmate
        rows.append((
            name, job.gradient_bytes / 1e9, checkmate.nodes(job), checkmate.durable_seconds(job, 1)
        ))  # fmt: skip
    header = ("model", "GB of gradients at every iteration", "machines", "until an update is there, s")
    return Table("Checkmate's shadow", header, tuple(rows))


def _over_link(values: Values) -> Table:
    """GoCkpt where a copy is longer than the passes of an iteration."""
    rows = []
    for link in LINKS:
        machine = Machine({**values, "pcie_gb": link})
        job, interval = machine.measured_job(LARGEST), round(values["interval"])
        gockpt = machine.gockpt
        rows.append((
            link, machine.system(PCcheck).stall_seconds(job, interval), gockpt.stall_seconds(job, interval),
            gockpt.steps(job, interval), gockpt.gradient_bytes(job, interval) / 1e9,
        ))  # fmt: skip
    header = (
        "GB/s of the link", "PCcheck, s", "GoCkpt, s", "its iterations of a copy", "its GB of gradients"
    )  # fmt: skip
    return Table(f"Stall of a checkpoint over the link, {LARGEST}", header, tuple(rows))


def _every_iteration(every: dict[str, dict[str, float]]) -> Table:
    return Table(
        "% of the time, with a checkpoint at every iteration",
        ("model", *every),
        tuple((model, *(each[model] for each in every.values())) for model in MODELS),
    )


def _sensitivity_of_pins(values: Values) -> Table:
    """The assumptions that change the stall of pins, or that of pins and copies."""
    rows = []
    for assumption in (*TRAINING, *SYSTEMS):
        ends = [Machine({**values, assumption.name: end}) for end in (assumption.low, assumption.high)]
        found = [_most(machine, kind) for kind in (PinState, PinAndCopy) for machine in ends]
        if len(set(found)) > 2:
            rows.append((f"`{assumption.name}`", assumption.low, assumption.high, *found))
    header = (
        "assumption", "low end", "high end",
        "pin, low", "pin, high", "pin and copy, low", "pin and copy, high",
    )  # fmt: skip
    return Table("% of the time with pins at every iteration, largest of nine models", header, tuple(rows))


def _most(machine: Machine, kind: type[CheckpointSystem]) -> float:
    return max(_percent(machine.system(kind), machine, model, 1) for model in MODELS)
