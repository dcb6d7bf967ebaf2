"""Numbers that nobody means, for all commands: each is refused in one line of some length, and soon."""

import argparse
from pathlib import Path

import pytest

from flashtrain.cli.command import (
    MOST_COUNT,
    MOST_NUMBER,
    MOST_SEED,
    above_zero,
    at_least_one,
    at_least_zero,
)
from flashtrain.cli.console import MOST_OF_AN_ERROR
from flashtrain.cli.dispatch import COMMANDS, parser
from flashtrain.cli.main import main

DIGITS = "1" * 5000
ABSURD = (
    DIGITS,
    f"-{DIGITS}",
    "-1",
    "nan",
    "inf",
    "-inf",
    "1e999",
    "9" * 400,
    "",
    "x",
    "0x10",
    "1.2.3",
    "1:2:3",
)
LINES = (
    "train --link functional --iterations 2 --loss-scale 1e300",
    f"train --link functional --iterations 2 --trace x.json --trace-window 10us:{DIGITS}s",
    f"train --link functional --iterations 2 --schedule step:{DIGITS}:0.5",
    "platform run gpt 1x1 --tflops 1e-300",
    "platform run gpt 1x1 --buffer 1e300",
    "platform run gpt 1x1 --phi nan",
    "sequence behemoth gpt 1x1 --phi inf",
    "offload plan toy-chain --batch 111111111111111111",
    "offload plan bert-large --batch 111111111111111111",
    f"offload plan toy-chain --memory {'9' * 400}",
    f"offload plan toy-chain --memory {'9' * 30}TiB",
    f"offload plan toy-chain --schedule flashneuron --least-bytes {'9' * 400}GB",
    "build --limit 1e300",
    "build --clean --older 1e300",
    "verilog --system-clock 1e300",
    "serve --seconds 1e300",
    "serve --port ٣",
    "ssd bench --quick --over-provisioning nan",
    *(
        f"io --link functional --size {'1' if name == 'size' else '64k --' + name + ' 1'}{value}"
        for name in ("size", "bs", "iodepth", "numjobs", "rwmixread", "runtime", "rate", "randseed")
        for value in (DIGITS, "9" * 400 + "d", "nan", "-1")
    ),
    f"io --link model --size 64k --sweep iodepth=1..{DIGITS}",
)  # fmt: skip


def _numbers(own: argparse.ArgumentParser, words: str):
    """Name and kind of each option of the commands that is parsed and is no file."""
    for action in own._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from _numbers(inner, f"{words} {name}".strip())
        elif action.type not in (None, Path) and action.choices is None:
            yield (
                f"{words} {action.option_strings[-1] if action.option_strings else action.dest}",
                action.type,
            )


def test_each_option_refuses_them():
    """`float` takes some of them, since its commands have their limits; and a name of a file has none."""
    kinds = set()
    for name, kind in _numbers(parser(*COMMANDS), ""):
        kinds.add(kind)
        for text in ABSURD:
            with pytest.raises((argparse.ArgumentTypeError, ValueError)):
                value = kind(text)
                assert kind is float or isinstance(value, Path), f"{name} takes {text[:20]!r}: {value}"
                raise ValueError
    assert {at_least_one, at_least_zero, above_zero} <= kinds


@pytest.mark.parametrize(
    ("kind", "most"), [(at_least_one, MOST_COUNT), (at_least_zero, MOST_SEED), (above_zero, MOST_NUMBER)]
)
def test_the_largest_number_is_taken(kind, most):
    assert kind(str(most)) == most
    with pytest.raises(argparse.ArgumentTypeError, match="at most"):
        kind(str(most * 10))


@pytest.mark.parametrize("line", LINES, ids=lambda line: line[:50])
def test_a_command_refuses_them(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    try:
        code = main(line.split())
    except SystemExit as leaving:
        code = leaving.code
    errors = [each for each in capsys.readouterr().err.splitlines() if not each.startswith("#")]
    assert code == 2 and len(errors) == 1 and len(errors[0]) <= MOST_OF_AN_ERROR
