"""Distributed checkpoints of several ranks, each with its device."""

import re
import socket
import sys
from contextlib import ExitStack
from subprocess import PIPE, Popen

import pytest
import torch

from tests.torch.compare import bits
from tests.torch.ranks.checkpoints import (
    SAVED,
    full_state,
    loaded,
    loaded_from_served,
    optimizer_saved,
    saved,
)
from tests.torch.ranks.pool import run

WRONG = {
    "absent": "rank 1: ConnectionError: flash://127.0.0.1:9: Connection refused",
    "silent": r"rank 1: ConnectionError: flash://127.0.0.1:\d+: timed out",
    "stream": r"rank 1: FileNotFoundError: .* has no stream 'taught'; it has inputs, trained, state_a, ",
    "rights": "rank 1: CheckpointError: .*: stream 'inputs' has no note for this host .*; expected",
    "target": "rank 1: ConnectionError: .*, subsystem 'nqn.2014-08.org.example:none': .* status 0x182",
    "device": r"checkpoint 'run/3' has no part 'run/3 \[rank 3 of 4, save .*'",
}
"""Messages of all ranks, by what is wrong with the target of rank 1."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Images of four devices with checkpoints of four ranks."""
    folder = tmp_path_factory.mktemp("images")
    for said, whole, pruned, fewer, names in run(SAVED, saved, str(folder)):
        assert said == ["no page", "there is a checkpoint 'run/3' of stream 'trained' already"]
        assert whole == ["run/1", "run/2", "run/3"] and pruned == ["run/1"] and fewer > 0
        assert names == ["run/2", "run/3"]
    return folder


@pytest.mark.parametrize("count", [1, 2, 3, 8])
def test_loads_on_other_numbers_of_ranks(folder, count):
    found = run(count, loaded, str(folder))
    assert len(set(found)) == 1
    missing, unknown, damaged = found[0]
    assert re.search("CheckpointDamaged: array '.*': its checksum is wrong", damaged)
    assert "checkpoint 'run/3' has no part 'run/3 [rank 3 of 4, save" in missing
    assert "no checkpoint 'run/9' on the devices of the ranks; they have" in unknown
    file = torch.load(folder / f"{count}.pt")
    assert file["step"] == 2 and file["by rank"] == {f"r{rank}": rank for rank in range(SAVED)}
    for name, tensor in full_state(2).items():
        assert bits(file["tensors"][name]) == bits(tensor)


@pytest.fixture
def ports(folder):
    """The ports at which `flashtrain serve` serves the devices of ranks 2 and 3."""
    options = "serve --node update --link functional --port 0 --image".split()
    command = [sys.executable, "-m", "flashtrain.cli.main", *options]
    with ExitStack() as stack:
        served = []
        for rank in (2, 3):
            process = Popen([*command, f"{folder}/{rank}.img"], stderr=PIPE, text=True)
            stack.enter_context(process)
            stack.callback(process.terminate)
            served.append(process)
        found = []
        for process in served:
            assert process.stderr is not None
            lines = (re.search(r"listening on 127.0.0.1:(\d+)", line) for line in process.stderr)
            found.append(next(int(line[1]) for line in lines if line))
        yield found


def test_loads_from_devices_that_are_served(folder, ports):
    """Two ranks load what four have saved: each has opened its device, and reads another one over TCP."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        first, second = run(2, loaded_from_served, str(folder), ports, silent.getsockname()[1])
    assert first == second and first.keys() == WRONG.keys()
    for name, said in first.items():
        assert re.search(WRONG[name], said), said


def test_optimizers(tmp_path):
    assert run(2, optimizer_saved, str(tmp_path)) == [2, 2]
