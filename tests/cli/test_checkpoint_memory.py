"""`flashtrain checkpoint memory`: the table, its document, and mistakes."""

import json

from flashtrain.cli.main import main

SMALL_RUN = [
    "checkpoint", "memory", "--link", "functional", "--network", "mlp", "--iterations", "6", "--quantum", "2"
]  # fmt: skip


def test_two_trainings_in_the_memory_of_one(capsys):
    assert main([*SMALL_RUN, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    rows = {run["policy"]: run for run in document["runs"]}
    assert list(rows) == ["keep-resident", "one-after-the-other", "checkpoint-waiting"]
    ours, size = rows["checkpoint-waiting"], document["job_bytes"]
    assert (ours["saves"], ours["peak_bytes"]) == (4, size)
    assert size <= ours["buffer_bytes"] < 2 * size <= rows["keep-resident"]["buffer_bytes"]
    assert all(run["equal"] for run in rows.values())


def test_a_time_that_is_the_models(capsys):
    assert main([*SMALL_RUN, "--link", "model"]) == 0
    line = next(
        line for line in capsys.readouterr().out.splitlines() if line.startswith("checkpoint-waiting")
    )
    assert line.count("GB/s") == 2
    assert line.endswith("the same")


def test_a_memory_that_is_too_small(capsys):
    assert main([*SMALL_RUN, "--room", "0.9"]) == 2
    error = capsys.readouterr().err.splitlines()[-1]
    assert "flashtrain checkpoint: job a needs 57920 bytes" in error
