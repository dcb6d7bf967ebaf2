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
    yield line_of("model", "`file` every 500", *(f"`{system}`" for system in every["gpt2"]))
    for model in MODELS:
        yield line_of(f"`{model}`", files[model]["% every 500 iterations"], *every[model].values())


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


@pytest.mark.parametrize("lines", [stall_lines, interval_lines], ids=["stall", "interval"])
def test_tables(lines):
    found = list(lines())
    assert len(found) >= 8
    start = PAGE.index(found[0])
    assert [line for line in PAGE[start:].splitlines() if "---" not in line][: len(found)] == found


def test_text():
    """The values of the text are on the pages of the figures."""
    assert MODEL == "bert-large"
    figure = CheckpointStall()
    content = figure.content(figure.defaults())
    base, large, gpt2, most, pin, record, *_ = (comparison.ours for comparison in content.comparisons)
    assert pin < 0.01 and f"{record:.2g} % on AlexNet" in PAGE
    least = table_of(content, "% of the time with pins")["`batch_scale`"]["pin, low"]
    assert f"ResNet-50\nreaches {least:.2g} %" in PAGE
    list_of_figures = (DOCS / "figures.md").read_text(encoding="utf-8")
    assert (
        f"{base:.1f} and {large:.1f} % on BERT, {gpt2:.1f} % on GPT-2, at most {most:.1f} %; pins at every"
        f" iteration: at most {pin:.4f} %" in list_of_figures
    )
    figure = CheckpointInterval()
    *_, pins, copies, pccheck = (c.ours for c in figure.content(figure.defaults()).comparisons)
    assert (
        f"goodput of BERT-Large {pins:.3f} with pins, {copies:.3f} with copies of them, {pccheck:.3f} with"
        " PCcheck" in list_of_figures
    )
