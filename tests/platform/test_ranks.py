"""Iterations on several ranks: collectives, exposed time, the device's commands, and what is refused."""

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import pytest

from flashtrain.platform.errors import PlatformError
from flashtrain.platform.fms import FmsModel
from flashtrain.platform.models import FmsRates
from flashtrain.platform.ranks import (
    RankChoices,
    RankJob,
    RankLayer,
    RankLink,
    Weights,
    device_traffic,
    network_job,
    run_ranks,
    workload_job,
)
from flashtrain.platform.ranks.comparison import INSTANT, INSTANT_FLOPS, NAMES, collectives, compared
from flashtrain.platform.ranks.traffic import APPEND, UPDATE, WEIGHTS
from flashtrain.platform.tasks import Part
from flashtrain.platform.workloads import behemoth_workload
from flashtrain.spec import preset

GPT = behemoth_workload("gpt 1x1")
RANKS = (1, 2, 4, 8)


def report(ranks, link=None, choices=None, flops=840e12, buffer_bytes=64e9, **options):
    job = workload_job(GPT, ranks)
    return run_ranks(job, FmsRates(), link, flops / ranks, buffer_bytes, choices, **options)


def test_a_ring_has_a_round_for_each_other_rank():
    link = RankLink(bytes_per_second=2e9, seconds=1e-3)
    assert link.ring(1, 10**9) == 0
    assert link.ring(4, 10**9) == pytest.approx(3 * (1e-3 + 0.125))
    assert link.all_reduce(2, 8) == pytest.approx(2 * (1e-3 + 2e-9))


def test_ranks_divide_batch_weights_and_state():
    reports = [report(ranks) for ranks in RANKS]
    for ranks, one in zip(RANKS, reports, strict=True):
        moved = one.device_bytes
        assert moved["update gradients"] == pytest.approx(4 * GPT.parameters * GPT.layers / ranks)
        assert moved["read weights"] == pytest.approx(2 * moved["update gradients"])
        stored = GPT.layers * GPT.micro_batches * GPT.stored_activation_bytes
        assert moved["append activations"] == moved["read activations"] == pytest.approx(stored / ranks)
        # Two all-gathers in 2 bytes and a reduce-scatter in 4, of which a rank sends all but its own part.
        sent = 8 * GPT.parameters * GPT.layers * (ranks - 1) / ranks
        assert one.link_bytes == pytest.approx(sent, rel=1e-6)
        assert sum(one.exposed.values()) == pytest.approx(one.seconds, rel=1e-3)
    assert all(second.seconds < first.seconds for first, second in pairwise(reports))
    assert [one.bound for one in reports] == ["flash", "flash", "core", "core"]


def test_a_slow_link_is_the_bound():
    fast, slow = (report(4, RankLink(count)) for count in (1e15, 10e9))
    assert slow.bound == "link" and fast.exposed["link"] < 0.01 * fast.seconds
    assert slow.exposed["link"] == pytest.approx(slow.seconds - fast.seconds, rel=0.1)
    assert slow.busy["link"] == pytest.approx(slow.link_bytes / 10e9, rel=0.01)


def test_a_longer_iteration_lasts_longer():
    """The flash lasts for a number of iterations, however long they take."""
    one, other = report(8), report(8, flops=84e12)
    assert other.life_days / one.life_days == pytest.approx(other.seconds / one.seconds)


def test_updates_behind_the_backward_pass_take_longer():
    early, late = (report(8, choices=RankChoices(Weights.MEMORY, overlap)) for overlap in (True, False))
    assert early.seconds < late.seconds
    assert early.device_bytes == late.device_bytes


def test_prefetch_is_of_one_layer():
    """An all-gather begins when the core is in the layer before, and not earlier."""
    one = report(4, choices=RankChoices(Weights.MEMORY))
    gathers = [i for i in one.timeline.on(Part.COLLECTIVES) if i.name.startswith("gather")]
    cores = one.timeline.on(Part.CORE)
    for number in range(2, GPT.layers):
        before = [i for i in cores if i.name == f"forward {number - 1}"]
        assert gathers[number].start >= before[0].start - 1e-12


def test_simulated_flash_is_near_its_bounds():
    job = workload_job(GPT.shrunk(100), 8)
    flash, rates = (
        run_ranks(job, model, flops_per_second=1e12, buffer_bytes=64e9) for model in (FmsModel(), FmsRates())
    )
    assert 1 <= flash.seconds / rates.seconds < 1.1


def test_shards_are_those_of_torch_chunk():
    layer = RankLayer("one", ((6, 10), (5,)), ())
    assert [layer.shard(rank, 4) for rank in range(4)] == [22, 22, 21, 0]
    assert layer.padded(4) == 22


def test_commands_at_the_ends_of_zones():
    """Two appends at the end of a zone, and four update commands for a generation of two zones."""
    config = preset("tiny")
    g = config.geometry
    tile, zone = 2 * 512 // 12, g.dies * g.pages * g.channels
    job = RankJob("edge", (RankLayer("one", ((2 * zone * tile,),), (16 * 512, 16 * 512)),), 1)
    found = device_traffic(job, 0, config)
    assert found[APPEND] == (3, 32)  # a zone has 24 blocks
    assert found[UPDATE] == (2, 2 * zone)  # a page of gradients for each tile, at most 16 blocks a command
    assert found[WEIGHTS] == (2 * g.pages, 2 * zone)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: workload_job(GPT, 3), "3 ranks for 8 micro-batches of gpt 1x1; expected a divisor"),
        (lambda: workload_job(GPT, 0), "gpt 1x1: ranks is 0; expected at least 1"),
        (lambda: RankLink(0), "link: bytes_per_second is 0; expected a finite number above 0"),
        (lambda: RankLink(1e9, -1), "link: seconds is -1; expected a finite number of at least 0"),
        (
            lambda: RankJob("net", (RankLayer("one", ((2, 8),), ()),), 3),
            "net: rank 2 of 3 has no parameters; expected fewer ranks, or longer first dimensions",
        ),
        (lambda: report(8, buffer_bytes=1e9), "tensor buffer, where .* are free; expected a larger buffer"),
        (
            lambda: run_ranks(network_job(512, 64, 1, 1), FmsModel(preset("small"))),
            r"parameters of a rank take .* rows of tiles; expected at most 2,048, half of device small",
        ),
        (
            lambda: run_ranks(network_job(64, 1, 10**6, 1), FmsModel(preset("small"))),
            r"stores 3 GB on each of 1 ranks, two generations of state included; expected at most 0 GB",
        ),
    ],
)
def test_mistakes(make, message):
    with pytest.raises(PlatformError, match=message):
        make()


def test_what_differs_is_said():
    """One append more than in the model, half the bytes of an all-reduce, and another command."""
    job, config = network_job(64, 1, 16, 2), preset("small")
    ours = device_traffic(job, 1, config, steps=range(1, 2))
    keys = {name: key for key, name in NAMES.items()}
    commands = {(keys[name][0].name, keys[name][1]): (one.commands, one.blocks) for name, one in ours.items()}
    more = commands | {("ZONE_APPEND", "activations"): (4, 5), ("FLUSH", "trained"): (1, 1)}
    moved = dict(collectives(job, 1))
    runs = [
        SimpleNamespace(commands=ran, collectives=sent, pass_seconds=0.0, step_seconds=0.0)
        for ran, sent in ((commands, moved), (more, moved | {"allreduce_": (2, 72)}))
    ]
    assert compared(job, config, 1, runs[:1]).is_equal
    found = compared(job, config, 1, runs)
    assert not found.is_equal
    lines = [line.split()[:-1] for line in found.text().splitlines() if line.endswith("differs")]
    assert [line[1:-4] for line in lines] == [
        ["append", "activations"],
        ["FLUSH", "of", "trained"],
        ["allreduce_"],
    ]
    assert {line[0] for line in lines} == {"1"}


def test_waits_take_longer_than_reads_ahead():
    job = replace(network_job(64, 4, 256, 2), micro_batches=2)
    times = [
        run_ranks(
            job, FmsModel(preset("small")), INSTANT, INSTANT_FLOPS, choices=RankChoices(waits=waits)
        ).seconds
        for waits in (False, True)
    ]
    assert times[0] < times[1]
