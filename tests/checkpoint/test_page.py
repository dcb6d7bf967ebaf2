"""docs/checkpoint-systems.md: its example runs, its tables are those of the commands."""

import re
from pathlib import Path

import pytest

from flashtrain.checkpoint.models.training_model import MODELS
from flashtrain.cli.main import main
from flashtrain.figures.checkpoint_interval import MODEL, CheckpointInterval
from flashtrain.figures.checkpoint_platform import Machine
from flashtrain.figures.checkpoint_stall import CheckpointStall

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "checkpoint-systems.md").read_text(encoding="utf-8")


def table_of(content, title):
    """The rows of a table by their first column, as values by the names of the others."""
    (table,) = [table for table in content.tables if table.title.startswith(title)]
    return {each[0]: dict(zip(table.header[1:], each[1:], strict=True)) for each in table.rows}


def line_of(*cells):
    text = " | ".join(f"{cell:.4g}" if isinstance(cell, float) else str(cell) for cell in cells)
    return f"| {text} |"


def stall_lines():
    figure = CheckpointStall()
    content = figure.content(figure.defaults())
    files, every = table_of(content, "Files"), table_of(content, "% of the time, with")
    systems = (f"`{system}`" for system in every["gpt2"])
    yield line_of("model", "interval", "`file` at the interval", *systems)
    for model in MODELS:
        row = files[model]
        yield line_of(
            f"`{model}`", row["public interval"], row["% at the public interval"], *every[model].values()
        )


def link_lines():
    figure = CheckpointStall()
    found = table_of(figure.content(figure.defaults()), "Stall of a checkpoint over the link")
    yield line_of("GB/s of the link", *next(iter(found.values())))
    for link, row in found.items():
        yield line_of(link, *row.values())


def interval_lines():
    figure = CheckpointInterval()
    content = figure.content(figure.defaults())
    intervals, failures, goodputs = (
        table_of(content, title) for title in ("Intervals", "A failure", "Goodput")
    )
    for system in Machine(figure.defaults()).systems:
        name = system.name
        yield line_of(
            f"`{name}`",
            intervals[name]["stall at every iteration, s"],
            intervals[name]["least interval at 3.0%"],
            failures[name]["lost per failure, s"],
            failures[name]["lost in a day, h"],
            goodputs[name]["mean"],
            goodputs[name]["best interval"],
            goodputs[name]["mean there"],
            failures[name]["to load, GB"],
        )


def test_example(capsys):
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (output,) = re.findall(r"```\n(82 iterations.*?)```", PAGE, re.DOTALL)
    exec(example, {})
    assert capsys.readouterr().out.rstrip() == output.rstrip()


def test_models(capsys):
    assert main(["checkpoint", "models"]) == 0
    assert capsys.readouterr().out.partition("\n\n")[0] in PAGE


@pytest.mark.parametrize(
    "lines", [stall_lines, interval_lines, link_lines], ids=["stall", "interval", "link"]
)
def test_tables(lines):
    found = list(lines())
    assert len(found) >= 7
    start = PAGE.index(found[0])
    assert [line for line in PAGE[start:].splitlines() if "---" not in line][: len(found)] == found


def test_text():
    """The values of the text are on the pages of the figures."""
    assert MODEL == "bert-large"
    figure = CheckpointStall()
    content = figure.content(figure.defaults())
    base, large, gpt2, most, least, pin, record, *_ = (comparison.ours for comparison in content.comparisons)
    assert pin < 0.01 and f"{record:.2g} % on GoogLeNet" in PAGE
    interval, rate = re.search(
        r"every ([\d,]+) .* a file at ([\d.]+) GB/s", content.comparisons[1].why
    ).groups()
    assert f"interval of {interval}, or files at {rate} GB/s" in " ".join(PAGE.split())
    assert content.verdict in " ".join(PAGE.split())
    quarter = table_of(content, "% of the time with pins")["`batch_scale`"]["pin, low"]
    assert f"ResNet-50 has {quarter:.2g} %" in " ".join(PAGE.split())
    ends = table_of(content, "% of the time with files, over the ends").values()
    (low, high), (low_large, high_large), (low_gpt2, high_gpt2) = (tuple(row.values())[2:] for row in ends)
    assert (
        f"BERT-Base has {low:.2f} to {high:.1f} %, BERT-Large {low_large:.1f} to {high_large:.1f} %, and"
        f" GPT-2 {low_gpt2:.1f} to {high_gpt2:.1f} %"
    ) in " ".join(PAGE.split())
    list_of_figures = (DOCS / "figures.md").read_text(encoding="utf-8")
    assert (
        f"{base:.2f} and {large:.1f} % on BERT, {gpt2:.1f} % on GPT-2, {least:.2f} to {most:.1f} %; pins at"
        f" every iteration: at most {pin:.4f} %" in list_of_figures
    )
    figure = CheckpointInterval()
    *_, pins, copies, pccheck, _, _, checkmate = (
        comparison.ours for comparison in figure.content(figure.defaults()).comparisons
    )
    assert (
        f"goodput of BERT-Large {pins:.3f} with pins, {copies:.3f} with copies of them, {pccheck:.3f} with"
        f" PCcheck, {checkmate:.3f} with Checkmate" in list_of_figures
    )
