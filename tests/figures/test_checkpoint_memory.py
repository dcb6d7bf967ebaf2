"""The figure of freed memory: its aims, and the direction in which assumptions work."""

from math import inf

import pytest

from flashtrain.checkpoint.models.training_model import MODELS
from flashtrain.figures import checkpoint_memory
from flashtrain.figures.checkpoint_memory import AIM, CheckpointMemory
from flashtrain.figures.checkpoint_memory_runs import (
    DIES,
    FMS,
    KEEP,
    OURS,
    PAIRS,
    SERIAL,
    SSD,
    STATE_PAIR,
    STORES,
    SWAP,
    Runs,
)
from flashtrain.figures.errors import FigureError
from flashtrain.figures.parts import SpanChart

FIGURE = CheckpointMemory()


@pytest.fixture(scope="module")
def runs():
    return Runs(FIGURE.defaults())


def test_footprints_are_those_of_the_models(runs):
    job = runs.pairs[STATE_PAIR][0]
    model = MODELS["gpt-neo-1.3b"]
    assert job.footprint.state_bytes == model.state_bytes()
    assert runs.held(job, DIES) == job.footprint.total_bytes - model.optimizer_bytes()
    assert [each.name for each in runs.nine] == list(MODELS)
    for job in runs.nine:
        assert job.compute_seconds == pytest.approx(4 * 3600, rel=0.001)


@pytest.mark.parametrize("pair", PAIRS)
def test_two_jobs_in_the_memory_of_little_more_than_one(runs, pair):
    for store in STORES:
        ours, resident = runs.of_pair(pair, OURS, store), runs.of_pair(pair, KEEP, store)
        assert ours.peak_bytes <= 1.1 * runs.held(runs.pairs[pair][0], store)
        assert resident.peak_bytes == 2 * runs.held(runs.pairs[pair][0], store)
        assert 0 <= runs.slowdown(pair, OURS, store) <= AIM
        assert runs.slowdown(pair, OURS, store) <= runs.slowdown(pair, SWAP, store)
    assert runs.slowdown(pair, OURS, SSD) >= runs.slowdown(pair, OURS, FMS)
    assert runs.of_pair(pair, OURS, DIES).written_bytes == 0


def test_nine_jobs_in_96_gb(runs):
    resident, ours = runs.of_nine(KEEP, SSD), runs.of_nine(OURS, SSD)
    assert ours.peak_bytes <= 96e9 < 230e9 < resident.peak_bytes
    assert ours.seconds <= 1.01 * resident.seconds
    assert ours.seconds < runs.of_nine(SWAP, SSD).seconds
    assert ours.seconds < 0.9 * runs.of_nine(SERIAL, SSD).seconds


def test_assumptions_have_an_effect():
    least = FIGURE.headline(FIGURE.defaults())
    assert FIGURE.headline(FIGURE.values({"quantum_minutes": 5})) > 100 * AIM > least
    assert FIGURE.headline(FIGURE.values({"ssd_read_mb": 3500})) < least


def test_little_room():
    with pytest.raises(FigureError, match=r"room is 0.9 jobs; expected at least 1"):
        Runs(FIGURE.values({"room": 0.9}))


def test_a_memory_that_is_too_small_is_no_result():
    runs = Runs(FIGURE.values({"room": 1.05}))  # swap keeps the buffers of both
    assert runs.of_pair(STATE_PAIR, SWAP, DIES) is None
    assert runs.slowdown(STATE_PAIR, SWAP, DIES) == inf


def test_content(monkeypatch):
    """Of short jobs and a short sweep: its form."""
    monkeypatch.setattr(checkpoint_memory, "DRAM_GB", (64, 256))
    monkeypatch.setattr(checkpoint_memory, "QUANTUM_MINUTES", (5, 30))
    monkeypatch.setattr(checkpoint_memory, "ASSUMPTIONS", FIGURE.assumptions[:2])
    content = FIGURE.content(FIGURE.values({"job_hours": 0.5, "quantum_minutes": 15}))
    spans = next(chart for chart in content.charts if isinstance(chart, SpanChart))
    assert [row.label for row in spans.rows] == list(MODELS)
    assert {kind for row in spans.rows for kind, _, _ in row.spans} <= set(spans.kinds)
    assert len(content.tables) == len(PAIRS) + 3
    assert [row[0] for row in content.tables[-1].rows] == [
        "`dram_gb` = 72", "`dram_gb` = 256", "`accelerators` = 1", "`accelerators` = 4"
    ]  # fmt: skip
