"""The examples in each help: all can be parsed, the cheap ones work; and each help is one screen."""

import re
import shlex

import pytest

from flashtrain.cli.dispatch import COMMANDS, EXAMPLES, parser
from flashtrain.cli.main import main

LINES_OF_A_SCREEN = 50
CHEAP = ("flashtrain sequence generate", "flashtrain sequence show", "flashtrain info --preset tiny")


def examples(text: str) -> list[str]:
    """The commands, without the words beside them."""
    lines = [
        line.strip() for line in text.replace("\\\n", "").splitlines() if line.startswith("  flashtrain ")
    ]
    return [re.split(r"\s{2,}| > ", line)[0] for line in lines]


OWN = {name: examples(command.load().examples) for name, command in COMMANDS.items()}
ALL = [line for own in OWN.values() for line in own] + examples(EXAMPLES)


def test_each_command_has_examples():
    for name, own in OWN.items():
        assert own and all(line.startswith(f"flashtrain {name}") for line in own)


@pytest.mark.parametrize("line", ALL)
def test_an_example_can_be_parsed(line):
    arguments = shlex.split(line)[1:]
    if arguments[-1] == "--help":
        with pytest.raises(SystemExit, match="0"):
            parser(arguments[0]).parse_args(arguments)
    else:
        assert parser(arguments[0]).parse_args(arguments).command_name == arguments[0]


def test_the_cheap_examples_work(tmp_path, monkeypatch, capsys):
    """In the order in which they stand, for one may need the file of another."""
    monkeypatch.chdir(tmp_path)
    cheap = [line for line in ALL if line.startswith(CHEAP)]
    assert len(cheap) >= 4
    for line in cheap:
        assert main(shlex.split(line)[1:]) == 0, line
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("command", COMMANDS)
def test_each_help_is_one_screen(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "110")
    with pytest.raises(SystemExit, match="0"):
        main([command, "--help"])
    text = capsys.readouterr().out.splitlines()
    assert len(text) <= LINES_OF_A_SCREEN
    assert all(len(line) <= 112 for line in text)
