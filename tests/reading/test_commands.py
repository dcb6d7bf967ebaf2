"""Files that are none, for each option that reads one: one clear line, exit code 2, and soon."""

import argparse
import os
import time
from pathlib import Path

import pytest

from flashtrain.cli.dispatch import COMMANDS, parser
from flashtrain.cli.main import main

from .xml_files import DEVICE

_SERVE = "serve --preset tiny --link functional --port 0 --seconds 1"
READ = {
    "train --data": "train mlp --data FILE --link functional",
    "train --config": "train --link functional --config FILE",
    "sequence show file": "sequence show FILE",
    "sequence show --config": "sequence show FILE --config FILE",
    "sequence replay file": "sequence replay FILE",
    "sequence replay --config": "sequence replay SEQUENCE --config FILE",
    "platform run --config": "platform run gpt 1x1 --config FILE",
    "platform run workload": "platform run FILE.json",
    "platform ranks --config": "platform ranks gpt 1x1 --config FILE",
    "platform compare --config": "platform compare --config FILE",
    "offload plan profile": "offload plan FILE.json",
    "offload plan --config": "offload plan toy-chain --config FILE",
    "offload compare profile": "offload compare FILE.json",
    "offload compare --config": "offload compare toy-chain --config FILE",
    "offload run plan": "offload run FILE toy-chain",
    "offload run --config": "offload run FILE toy-chain --config FILE",
    "checkpoint memory --config": "checkpoint memory --config FILE",
    "io file": "io FILE --link functional",
    "io --config": "io --size 1m --link functional --config FILE",
    "serve --config": "serve --link functional --port 0 --seconds 1 --config FILE",
    "serve --dhchap-secret": f"{_SERVE} --dhchap-secret FILE",
    "pcie --config": "pcie --config FILE -- -nographic",
    "trace replay file": "trace replay FILE --link functional",
    "trace replay --config": "trace replay TRACE --link functional --config FILE",
    "trace show file": "trace show FILE",
    "trace convert file": "trace convert FILE out",
    "ssd replay file": "ssd replay FILE",
    "ssd replay --config": "ssd replay TRACE --config FILE",
    "ssd bench --config": "ssd bench --quick --config FILE",
    "ssd replay --drive": "ssd replay TRACE --drive FILE",
    "ssd bench --drive": "ssd bench --quick --drive FILE",
    "ssd import file": "ssd import FILE",
    "ssd import --workload": "ssd import DEVICE --workload FILE",
    "codec ratios --file": "codec ratios --file FILE",
    "codec ratios --data": "codec ratios --network mlp --iterations 0 --data FILE",
    "codec scaled --file": "codec scaled --file FILE",
    "codec scaled --data": "codec scaled --network mlp --iterations 0 --data FILE",
    "verilog --config": "verilog --config FILE",
    "bench --config": "bench append --config FILE",
    "sweep file": "sweep FILE",
    "fuzz --config": "fuzz --commands 1 --config FILE",
    "faults --config": "faults --runs 1 --config FILE",
    "powercut --config": "powercut --cuts 1 --config FILE",
    "kill --config": "kill --kills 1 --config FILE",
    "damage --config": "damage --images 1 --config FILE",
    "build --config": "build --config FILE",
    "info --config": "info --config FILE",
    "bringup --config": "bringup --config FILE",
}
"""A command line for each file that is read, FILE in the place of the file."""
OTHERS = {"--cache-dir", "device file", "pcie --qemu"}
"""A folder, an image, which tests/host/test_image.py has, and a program."""

KINDS = ("missing", "directory", "zero", "fifo", "unreadable")


def _arguments(own: argparse.ArgumentParser, words: str):
    """Name of each option or argument of the commands that is a file."""
    for action in own._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, inner in action.choices.items():
                yield from _arguments(inner, f"{words} {name}".strip())
        elif action.type is Path:
            yield f"{words} {action.option_strings[-1] if action.option_strings else action.dest}"


def test_every_file_of_a_command_is_in_a_table():
    for name in _arguments(parser(*COMMANDS), ""):
        assert name in READ or name in OTHERS or name.split()[-1] in OTHERS, name


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    (folder / "SEQUENCE").write_bytes(b"")
    assert main(["sequence", "generate", str(folder / "SEQUENCE"), "--network", "mlp", "--batch", "2"]) == 0
    (folder / "TRACE").write_text("fio version 2 iolog\nf add\nf write 0 4096\n", encoding="utf-8")
    (folder / "DEVICE").write_text(DEVICE, encoding="utf-8")
    return folder


def _make(path: Path, kind: str, monkeypatch) -> None:
    match kind:
        case "directory":
            path.mkdir()
        case "zero":
            path.symlink_to("/dev/zero")
        case "fifo":
            os.mkfifo(path)
        case "unreadable":
            path.write_bytes(b"text")

            opened = os.open

            def refuse(name, *rest, **more):
                if Path(name) == path:
                    raise PermissionError(13, os.strerror(13), name)
                return opened(name, *rest, **more)

            monkeypatch.setattr(os, "open", refuse)  # nothing is forbidden to the superuser


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", READ)
def test_a_file_that_is_none(name, kind, folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    arguments = [
        str(folder / word) if word in ("SEQUENCE", "TRACE", "DEVICE") else word.replace("FILE", "given")
        for word in READ[name].split()
    ]
    path = next(Path(word) for word in arguments if word.startswith("given"))
    _make(path, kind, monkeypatch)
    code = main(arguments)
    out, err = capsys.readouterr()
    lines = [line for line in err.splitlines() if not line.startswith("#")]
    expected = {
        "missing": "cannot be read: No such file or directory",
        "directory": "is a directory; expected a regular file",
        "zero": "is a character device; expected a regular file",
        "fifo": "is a fifo; expected a regular file",
        "unreadable": "cannot be read: Permission denied",
    }[kind]
    assert code == 2 and len(lines) == 1 and f"{path}: {expected}" in lines[0], (code, out, err)
    began = time.process_time()
    main(arguments)  # once more: the first time imports
    assert time.process_time() - began < 1
