"""The poster's result: the share of training time in which nine models wait for their checkpoints."""

from dataclasses import replace

from flashtrain.checkpoint.models.training_model import MODELS
from flashtrain.checkpoint.systems import AppendState, CheckpointSystem, PinAndCopy, PinState
from flashtrain.figures.checkpoint_platform import OF_DRIVES, SYSTEMS, TRAINING, Machine
from flashtrain.figures.figure import PublishedFigure
from flashtrain.figures.parts import (
    CHECKPOINT_POSTER,
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
BERT_BOUND, GPT2_BOUND, LARGEST_BOUND = 1.0, 5.0, 5.0
"""Per cent: the poster's text, and the caption of its figure 1."""
PIN_BOUND = 0.01
"""Per cent: the criterion of this project."""

INTERVAL = Assumption(
    "interval", 500, 50, 5000, "iterations",
    "between the poster's checkpoints, which it does not name: `save_steps` of transformers by default",
)  # fmt: skip
EPOCHS = (
    Assumption(
        "epoch_images", 1_281_167, 50_000, 1_281_167, "images", "of an epoch: ImageNet; an assumption"
    ),
    Assumption("epoch_sequences", 88_000, 10_000, 1e6, "sequences", "of an epoch: SQuAD; an assumption"),
    Assumption("accelerators", 2, 1, 2, "", "that share an epoch: the poster's machine"),
)
LANGUAGE = ("bert", "gpt")


class CheckpointStall(PublishedFigure):
    name = "checkpoint-stall"
    title = "Checkpoint stall of nine models"
    headline_name = f"% of the time of {HEADLINE} that waits for files on the poster's drive"
    drives_headline_name = f"% of the time of {HEADLINE} that waits for files on the drives"
    drives = OF_DRIVES
    assumptions = (INTERVAL, *TRAINING, *SYSTEMS, *EPOCHS)

    def headline(self, values: Values) -> float:
        machine = Machine(values)
        return _percent(machine.file, machine, HEADLINE, round(values["interval"]))

    def content(self, values: Values) -> Content:
        machine = Machine(values)
        interval = round(values["interval"])
        files = {model: _percent(machine.file, machine, model, interval) for model in MODELS}
        every = {
            system.name: {model: _percent(system, machine, model, 1) for model in MODELS}
            for system in machine.systems
        }
        epochs = {model: _percent(machine.file, machine, model, _epoch(values, model)) for model in MODELS}
        names = tuple(MODELS)
        return Content(
            comparisons=(*_published(machine, files, interval), *_ours(machine, every)),
            charts=(
                Chart(
                    "Files on the poster's drive",
                    "% of the time",
                    (
                        Series(f"every {interval} iterations", (), tuple(files.values())),
                        Series("every epoch", (), tuple(epochs.values())),
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
                _models(machine, files, epochs, values),
                _every_iteration(every),
                _sensitivity_of_pins(values),
            ),
            notes=(
                "The poster has neither batches, iteration times nor intervals, so its percentages cannot be"
                " recomputed. Its rule can: T / (T + k t), for a checkpoint of T every k iterations of t.",
                "The sizes and FLOPs of the models are captured from their public definitions. GPT-Neo has"
                " 1.3 G parameters here; the poster names no size.",
                "Files and CheckFreq have the rates of their public code. PCcheck and `append` copy through"
                " pinned memory at the rate of the link.",
                "An FMS with the state in memory is a fast drive, and no more: `append` moves 12 bytes per"
                " parameter and checkpoint. Its stall is 0 where the passes hide all of that.",
                "With the state on the dies no state moves. Only buffers do, such as the statistics of batch"
                " norms. Iterations are as long as with updates on the accelerator.",
            ),
        )


def _percent(system: CheckpointSystem, machine: Machine, model: str, interval: int) -> float:
    return 100 * system.overhead(machine.job(model), interval)


def _epoch(values: Values, model: str) -> int:
    """Iterations of an epoch."""
    examples = values["epoch_sequences" if model.startswith(LANGUAGE) else "epoch_images"]
    batch = MODELS[model].batch * values["batch_scale"] * values["accelerators"]
    return max(1, round(examples / batch))


def _published(machine: Machine, files: dict[str, float], interval: int) -> list[Comparison]:
    largest = max(files, key=files.__getitem__)
    cases = (
        ("bert-base", "bert-base", BERT_BOUND, "less than 1 % on BERT"),
        ("bert-large", "bert-large", BERT_BOUND, "less than 1 % on BERT"),
        ("gpt2", "gpt2", GPT2_BOUND, "5 % on GPT-2"),
        (f"largest of nine ({largest})", largest, LARGEST_BOUND, "1 % to 5 %"),
    )
    return [
        Comparison(
            f"stall with a file every {interval} iterations, {what}",
            files[model],
            "%",
            bound,
            f"{CHECKPOINT_POSTER}: {text}",
            Relation.AT_MOST,
            why="" if files[model] <= bound else _reason(machine, model, bound),
        )
        for what, model, bound, text in cases
    ]


def _reason(machine: Machine, model: str, bound: float) -> str:
    needed = machine.file.least_interval(machine.job(model), bound / 100)
    minutes = needed * machine.job(model).iteration_seconds / 60
    return (
        f"a file every {needed:,} iterations or {minutes:.1f} minutes would stay at {bound:g} %; interval,"
        " batch and iteration time of the poster are not public"
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


def _models(machine: Machine, files: dict[str, float], epochs: dict[str, float], values: Values) -> Table:
    rows = []
    for name, model in MODELS.items():
        job, file = machine.job(name), machine.file
        stall = file.stall_seconds(job, 1)
        minutes = [
            file.least_interval(job, bound / 100) * job.iteration_seconds / 60
            for bound in (BERT_BOUND, LARGEST_BOUND)
        ]
        rows.append((
            name, f"{model.parameters / 1e6:.1f}", f"{job.state_bytes / 1e9:.3f}",
            f"{model.batch * values['batch_scale']:g}", job.iteration_seconds, stall, file.load_seconds(job),
            machine.pin.load_seconds(job), files[name],
            _epoch(values, name), epochs[name], *minutes,
        ))  # fmt: skip
    header = (
        "model", "M parameters", "GB of a checkpoint", "batch", "iteration, s", "file, s", "restore, s",
        "restore of a pin, s",
        f"% every {values['interval']:g} iterations", "iterations of an epoch", "% every epoch",
        "minutes for 1 %", "minutes for 5 %",
    )  # fmt: skip
    return Table("Files on the poster's drive, and restores", header, tuple(rows))


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
