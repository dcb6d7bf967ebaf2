"""What ranks do in the tests: trainings with optimizers on dies, each beside the same one in memory."""

import os
import shutil
import signal
from collections import Counter
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from time import perf_counter
from unittest.mock import patch

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.pipelining import PipelineStage, ScheduleGPipe
from torch.distributed.tensor import DTensor, Shard, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

from flashtrain.checkpoint import CheckpointError, PinEveryCommit
from flashtrain.host import (
    FunctionalLink,
    OptimizerState,
    OverBudget,
    StateMissing,
    WearBudget,
    open_device,
)
from flashtrain.numerics import Totals
from flashtrain.spec import FlashtrainError, NodeTable, preset
from flashtrain.spec.optimizer import GradientFormat
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.stress.powercut.failing_link import FailingLink as RtlFailingLink
from flashtrain.torch import SGD, Adam, AdamW, Muon, OffloadActivations, RankError, open_rank_device
from flashtrain.torch.optimizers.muon import MuonStep
from flashtrain.torch.ranks.ranks import ranks_of
from flashtrain.torch.ranks.shards import as_distributed, shard
from flashtrain.training.commits import PLAIN
from tests.stress.powercut.test_functional_power import FailingLink
from tests.torch.compare import bits

COLLECTIVES = (
    "all_reduce", "barrier", "all_gather", "all_gather_object", "broadcast", "broadcast_object_list",
    "reduce", "all_gather_into_tensor", "all_to_all", "gather", "scatter", "reduce_scatter", "send", "recv",
)  # fmt: skip


def muon(parameters, **options):
    """Matrices by Muon, and others by AdamW, in one optimizer on the dies."""
    matrices, others = parted(parameters)
    return Muon([{"params": matrices}, {"params": others, "use_muon": False}], **options)


def parted(parameters):
    """Matrices, and other parameters."""
    parameters = list(parameters)
    return [p for p in parameters if p.ndim == 2], [p for p in parameters if p.ndim != 2]


class MuonInMemory:
    """PyTorch's own optimizers for both, with the state in the order of :func:`muon`."""

    def __init__(self, parameters, foreach, lr):
        matrices, others = parted(parameters)
        self._muon = torch.optim.Muon(matrices, lr=lr)
        self._adamw = torch.optim.AdamW(others, lr=lr, weight_decay=0.1, foreach=foreach)
        self._matrices = len(matrices)

    def step(self):
        self._muon.step()
        self._adamw.step()

    def zero_grad(self):
        self._muon.zero_grad()
        self._adamw.zero_grad()

    def state_dict(self):
        others = self._adamw.state_dict()["state"]
        moved = {self._matrices + index: entry for index, entry in others.items()}
        return {"state": self._muon.state_dict()["state"] | moved}


THEIRS = {SGD: torch.optim.SGD, Adam: torch.optim.Adam, AdamW: torch.optim.AdamW, muon: MuonInMemory}


class Block(nn.Module):
    """A layer of a small transformer, whose widths no number of ranks divides evenly."""

    def __init__(self, width=11):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


def network(outputs=5):
    return nn.Sequential(nn.Linear(6, 11), Block(), Block(), nn.Linear(11, outputs))


def initialise(model, seed=1):
    """Numbers that depend on the names and the full shapes alone."""
    for number, parameter in enumerate(model.parameters()):
        random = torch.Generator().manual_seed(1000 * seed + number)
        full = torch.randn(parameter.shape, generator=random) * 0.3
        if isinstance(parameter, DTensor):
            full = distribute_tensor(full, parameter.device_mesh, parameter.placements)
        shard(parameter).detach().copy_(shard(full))


def sharded_rows(count, half):
    """A network of whose matrices each of four ranks has a row."""
    return sharded(count, half, 8)


def sharded(count, half=False, outputs=5):
    """The network under FSDP2, made on the meta device."""
    mesh = init_device_mesh("cpu", (count,))
    policy = MixedPrecisionPolicy(torch.bfloat16, torch.float32) if half else MixedPrecisionPolicy()
    with torch.device("meta"):
        model = network(outputs)
    for layer in model:
        fully_shard(layer, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    model.to_empty(device="cpu")
    initialise(model)
    return model


def hybrid(count, half):
    """Two replicas of shards: HSDP."""
    mesh = init_device_mesh("cpu", (2, count // 2), mesh_dim_names=("replicas", "shards"))
    model = network()
    for layer in (*model, model):
        fully_shard(layer, mesh=mesh)
    initialise(model)
    return model


def replicated(count, half):
    """The network under DDP."""
    model = network()
    initialise(model)
    return nn.parallel.DistributedDataParallel(model)


def tensor_parallel(count, half):
    """Blocks by columns and rows, with plain parameters beside; all ranks have the same batch."""
    model = network()
    initialise(model)
    mesh = init_device_mesh("cpu", (count,))
    for block in model[1:3]:
        parallelize_module(block, mesh, {"up": ColwiseParallel(), "down": RowwiseParallel()})
    model.batch_of = 0
    return model


def backward(model, step, rank, parts=2, scale=1.0):
    """Gradients of a step, accumulated over parts of its batch; each rank has samples of its own."""
    for part in range(parts):
        if hasattr(model, "set_requires_gradient_sync"):
            model.set_requires_gradient_sync(part == parts - 1)
        number = 10_000 * step + 100 * part + getattr(model, "batch_of", rank)
        random = torch.Generator().manual_seed(number)
        x, y = torch.randn(7, 6, generator=random), torch.arange(7) % 5
        (scale * nn.functional.cross_entropy(model(x).float(), y)).backward()


@contextmanager
def correct_root():
    """PyTorch with a square root of float32 that is rounded correctly, also of shards."""

    def root(tensor):
        return as_distributed(tensor, torch.from_numpy(np.sqrt(shard(tensor).numpy())))

    with patch.object(torch.Tensor, "sqrt", root):
        yield


@contextmanager
def counted():
    """The calls of collectives of `torch.distributed` by name."""
    calls, patches = Counter(), []
    for name in COLLECTIVES:
        original = getattr(dist, name)

        def call(*args, _name=name, _original=original, **options):
            calls[_name] += 1
            return _original(*args, **options)

        patches.append(patch.object(dist, name, call))
    for one in patches:
        one.start()
    try:
        yield calls
    finally:
        for one in patches:
            one.stop()


def activations(rank, count):
    """Gradients of a sharded model whose activations go to the flash, and the report of the traffic."""
    models = [sharded(count), sharded(count, half=True)]
    with open_device("tiny", node=UPDATE_NODE) as device:
        for model in models:
            offloading = OffloadActivations(device, memory_bytes=1 << 10, min_bytes=1)
            gradients = []
            for context in (nullcontext(), offloading):
                model.zero_grad()
                with context:
                    backward(model, 0, rank)
                gradients.append([bits(shard(parameter.grad)) for parameter in model.parameters()])
            assert gradients[0] == gradients[1]
            report = offloading.report()
            assert report.total.read_bytes > 0 and report.total.offloaded_bytes > 0
    return report.total.read_bytes


def parts_of(model, optimizer):
    """The bits of all shards of weights and state."""
    state = optimizer.state_dict()["state"]
    return [bits(shard(p)) for p in model.parameters()], {
        (index, name): bits(shard(value)) for index, entry in state.items() for name, value in entry.items()
        if isinstance(value, torch.Tensor)
    }  # fmt: skip


def beside_memory(rank, count, kind, options, half=False, build=sharded, overlap=False, steps=4):
    """A training on dies beside the same one in memory: the numbers that were compared.

    Step 1 has a NaN on the last rank alone, which comes behind the backward pass, and step 2 is clipped.
    """
    models = [build(count, half) for _ in range(2)]
    compared = 0
    with open_device("tiny", node=UPDATE_NODE) as device, correct_root():
        ours = kind(models[0].parameters(), device=device, overlap=overlap, **options)
        theirs = THEIRS[kind](models[1].parameters(), foreach=False, **options)
        for step in range(steps):
            for model in models:
                backward(model, step, rank)
            if step == 1:
                if rank == count - 1:
                    shard(next(models[0].parameters()).grad).view(-1)[-1] = torch.nan
                before = parts_of(models[0], ours)
                ours.step()
                assert ours.report.skipped
                assert parts_of(models[0], ours) == before
            else:
                ours.max_norm = 0.01 if step == 2 else None
                with counted() as calls:
                    ours.step()
                passes = (2 if step == 2 else 1) if kind is muon else 0
                assert calls == {"all_reduce": 2 + passes * len(parted(models[0].parameters())[0])}, calls
                if step == 2:
                    clip(ours, models[1])
                theirs.step()
                (weights, state), expected = parts_of(models[0], ours), parts_of(models[1], theirs)
                assert weights == expected[0]
                assert state == {key: value for key, value in expected[1].items() if key in state}
                assert {name for _, name in state} == {name for _, name in expected[1]}
                compared += sum(map(len, weights)) // 4 + sum(map(len, state.values())) // 4
            for optimizer in (ours, theirs):
                optimizer.zero_grad()
        assert ours.stores == 1
        taken, dropped = ours.overlaps
        assert taken + dropped == (steps - 1 if overlap else 0), ours.overlaps
        assert dropped <= (rank == count - 1), "the step whose gradient got a NaN, if it was sent before"
    return compared, ours.report.norm


def zero_redundancy(rank, count, folder):
    """`ZeroRedundancyOptimizer` with AdamW on the dies, beside the same in memory: the numbers compared.

    The dies of step 2 are recovered by another optimizer. Step 1 has an infinite gradient
    on the last rank alone, of a parameter that it updates.
    """
    from torch.distributed.optim import ZeroRedundancyOptimizer  # it warns of what PyTorch ends

    models, compared = [replicated(count, False) for _ in range(2)], 0
    on_dies = partial(AdamW, own_parameters=True)
    theirs = ZeroRedundancyOptimizer(models[1].parameters(), torch.optim.AdamW, lr=0.01, foreach=False)
    for first, last in ((0, 3), (3, 5)):
        with (
            open_rank_device("tiny", node=UPDATE_NODE, image=f"{folder}/{{rank}}.img") as device,
            correct_root(),
        ):
            kind = partial(on_dies, device=device, recovered=first > 0)
            ours = ZeroRedundancyOptimizer(models[0].parameters(), kind, lr=0.01)
            if first:
                share(models[0].parameters(), ours.optim, rank)
            for step in range(first, last):
                for model in models:
                    backward(model, step, rank)
                if step == 1:
                    if rank == count - 1:
                        own = ours.optim.param_groups[0]["params"][0]
                        own.grad.view(-1)[0] = torch.inf
                    before = [bits(p) for p in models[0].parameters()]
                    ours.step()
                    assert ours.optim.report.skipped
                    assert [bits(p) for p in models[0].parameters()] == before
                else:
                    ours.step()
                    theirs.step()
                weights = [[bits(p) for p in model.parameters()] for model in models]
                assert weights[0] == weights[1]
                compared += sum(map(len, weights[0])) // 4
                for optimizer in (ours, theirs):
                    optimizer.zero_grad()
            norm = ours.optim.report.norm
            for optimizer in (ours, theirs):
                optimizer.consolidate_state_dict(to=0)
            if rank == 0:
                states = [optimizer.state_dict()["state"] for optimizer in (ours, theirs)]
                for index, entry in states[1].items():
                    for name, value in entry.items():
                        assert bits(states[0][index][name]) == bits(value), (index, name)
            if not first:
                with torch.no_grad():
                    for parameter in models[0].parameters():
                        parameter.zero_()
    return compared, norm


def share(parameters, optimizer, rank):
    """Every rank gets the parameters of the others from the rank whose optimizer has them."""
    own = {p for group in optimizer.param_groups for p in group["params"]}
    for parameter in parameters:
        owner = torch.tensor(rank if parameter in own else -1)
        dist.all_reduce(owner, dist.ReduceOp.MAX)
        dist.broadcast(parameter.detach(), int(owner))


def pipeline(rank, count):
    """Two stages, AdamW on the dies and activations on the flash, beside the same in memory.

    Of four ranks two share a stage under FSDP2, and each pair has data of its own.
    """
    mesh = init_device_mesh("cpu", (2, count // 2), mesh_dim_names=("stages", "shards"))
    number, pair = mesh.get_coordinate()
    x, y = torch.randn(8, 6, generator=torch.Generator().manual_seed(5 + pair)), torch.arange(8) % 5
    with open_device("tiny", node=UPDATE_NODE) as device, correct_root():
        offloading = OffloadActivations(device, memory_bytes=1 << 10, min_bytes=300)
        sides, compared = [], 0
        for context in (offloading, nullcontext()):
            model = network()
            initialise(model)
            part = model[2 * number : 2 * number + 2]
            if count > 2:
                for layer in (*part, part):
                    fully_shard(layer, mesh=mesh["shards"])
            stage = PipelineStage(part, number, 2, torch.device("cpu"), group=mesh.get_group("stages"))
            schedule = ScheduleGPipe(stage, n_microbatches=2, loss_fn=nn.functional.cross_entropy)
            if context is offloading:
                optimizer = AdamW(part.parameters(), lr=0.01, device=device, own_parameters=True)
            else:
                optimizer = torch.optim.AdamW(part.parameters(), lr=0.01, foreach=False)
            sides.append((part, schedule, optimizer, context))
        for step in range(4):
            for _part, schedule, optimizer, context in sides:
                with context:
                    schedule.step(*([] if number else [x + step]), target=y if number else None)
                optimizer.step()
                optimizer.zero_grad()
            (weights, state), expected = (parts_of(part, optimizer) for part, _, optimizer, _ in sides)
            assert weights == expected[0], step
            assert state == {key: value for key, value in expected[1].items() if key in state}
            compared += sum(map(len, weights)) // 4 + sum(map(len, state.values())) // 4
        assert offloading.report().total.offloaded_bytes > 0
        return compared, sides[0][2].report.norm


def clip(ours, model):
    """Clip the gradients in memory, after the dies have; their norm is compared with an exact one."""
    squares = 0.0
    for parameter in model.parameters():
        gradient = parameter.grad
        full = gradient.full_tensor() if isinstance(gradient, DTensor) else gradient
        squares += float(np.square(full.double().numpy()).sum())
    assert abs(ours.report.norm - squares**0.5) < 1e-6 * squares**0.5
    assert ours.report.norm > 2 * ours.max_norm
    factor = float(np.float32(ours.max_norm / (ours.report.norm + 1e-6)))
    for parameter in model.parameters():
        shard(parameter.grad).mul_(factor)


# Trainings that are cut.

STEPS, RTL_STEPS = 8, 3
fall_back = OptimizerState.fall_back
PINNED = 3


class Moments:
    """Counts moments of a process: before and after each command of the device, and each collective.

    The process ends at moment `last`, or never (-1), as by SIGKILL.
    """

    def __init__(self, last):
        self.passed, self._last = 0, last

    def tick(self):
        if self.passed == self._last:
            os.kill(os.getpid(), signal.SIGKILL)
        self.passed += 1

    def around(self, function):
        def call(*args, **options):
            self.tick()
            value = function(*args, **options)
            self.tick()
            return value

        return call


class CountingLink(FunctionalLink):
    def __init__(self, moments, config, memory_bytes):
        super().__init__(config, memory_bytes)
        self._moments = moments

    def _enable(self):
        super()._enable()
        self._executor.answer = self._moments.around(self._executor.answer)


def optimizer_on(device, model, steps=STEPS):
    """Go on with what the dies of all ranks hold, or begin; the number of steps taken, and the optimizer."""
    try:
        optimizer = AdamW(model.parameters(), lr=0.01, device=device, recovered=True)
    except StateMissing:
        initialise(model)
        optimizer = AdamW(model.parameters(), lr=0.01, device=device)
    taken = optimizer.recovered_host_state
    return int(taken) if taken else 0, optimizer


def train(model, optimizer, taken, rank, on_step=lambda step: None):
    """Train to the last step, with a checkpoint on the way."""
    for step in range(taken, STEPS):
        if step == PINNED and not optimizer.checkpoints.checkpoints:
            optimizer.pin("three")
        optimizer.zero_grad()
        backward(model, step, rank)
        optimizer.host_state = lambda number=step + 1: str(number).encode()
        optimizer.step()
        on_step(step + 1)
    assert optimizer.report is None or not optimizer.report.skipped


def training(rank, count, folder, last):
    """A training from what is in the images of `folder`, which is killed at a moment of a rank.

    last: the moment by rank. Returns the step it began with, the bits at the end, those of the checkpoint,
    and the number of moments.
    """
    moments = Moments(last.get(rank, -1))

    def dropped(state, generation):
        (Path(folder) / f"{rank}.{os.getpid()}.back").touch()
        return fall_back(state, generation)

    link = partial(CountingLink, moments)
    with (
        patch.object(OptimizerState, "fall_back", dropped),
        patch.object(dist, "all_reduce", moments.around(dist.all_reduce)),
        patch.object(dist, "all_gather_object", moments.around(dist.all_gather_object)),
        open_rank_device("tiny", link=link, node=UPDATE_NODE, image=f"{folder}/{{rank}}.img") as device,
    ):
        model = sharded(count)
        taken, optimizer = optimizer_on(device, model)
        known = [None] * count
        dist.all_gather_object(known, [(one.name, one.step) for one in optimizer.checkpoints.checkpoints])
        assert all(own == known[0] for own in known), f"pins differ: {known}"
        assert taken <= PINNED or known[0] == [("three", PINNED)]
        steps = [int(file.read_text(encoding="ascii")) for file in Path(folder).glob("*.step")]
        assert taken >= max(steps, default=0), f"begins with {taken}; steps {steps} had returned"
        acknowledged = Path(folder) / f"{rank}.{os.getpid()}.step"

        def on_step(step):
            descriptor = os.open(acknowledged, os.O_WRONLY | os.O_CREAT)
            os.write(descriptor, str(step).encode())
            os.close(descriptor)

        train(model, optimizer, taken, rank, on_step)
        pinned = {name: array.tobytes() for name, array in optimizer.checkpoints.load("three").items()}
        return taken, parts_of(model, optimizer), pinned, moments.passed


def losses_of_power(rank, count, seed, losses):
    """Trainings of which devices lose their power at random commands, until there were so many losses.

    All end with the same bits. Returns the numbers of losses, of trainings, and of steps that were dropped.
    """
    ours, shared = Random(seed * count + rank), Random(seed)
    happened, trainings, expected, backs = 0, 0, None, []
    while happened < losses or trainings < 2:
        link, cut, acknowledged = FailingLink(ours, preset("tiny")), trainings > 0, 0
        device = open_device(link=link, node=UPDATE_NODE)
        model = sharded(count)

        def dropped(state, generation):
            backs.append(generation)
            return fall_back(state, generation)

        while True:
            victim, left = shared.randrange(count), shared.randrange(100)
            link.left = left if cut and rank == victim and happened < losses else -1
            try:
                with patch.object(OptimizerState, "fall_back", dropped):
                    taken, optimizer = optimizer_on(device, model)
                assert taken >= acknowledged

                def on_step(step):
                    nonlocal acknowledged
                    acknowledged = step

                train(model, optimizer, taken, rank, on_step)
                link.left = -1
                break
            except RankError as error:
                assert f"rank {victim}: PowerFailed" in str(error), error
                happened += 1
                link.left = -1
                if rank == victim:
                    link.power_cycle()
                    device.recover()
        result = parts_of(model, optimizer)
        expected = result if expected is None else expected
        assert result == expected
        trainings += 1
        device.close()
        link.close()
    return happened, trainings, len(backs)


def losses_on_rtl(rank, count, link, seed, losses):
    """Trainings by AdamW and by Muon, of which devices lose their power at random cycles of random steps.

    The activations are on the flash as well. All end with the bits of the same training in memory. Returns
    the numbers of losses, of trainings, and of numbers that were compared.
    """
    shared, happened, trainings, compared = Random(seed), 0, 0, 0
    while happened < losses or trainings < 2:
        kind = (AdamW, muon)[trainings % 2]
        models = [sharded(count) for _ in range(2)]
        with correct_root():
            theirs = THEIRS[kind](models[1].parameters(), lr=0.01, foreach=False)
            for step in range(RTL_STEPS):
                theirs.zero_grad()
                backward(models[1], step, rank)
                theirs.step()
        with RtlFailingLink(link(preset("tiny"), 1 << 19)) as failing:
            device = open_device(link=failing, node=UPDATE_NODE)
            optimizer = kind(models[0].parameters(), lr=0.01, device=device)
            offloading = OffloadActivations(device, memory_bytes=1 << 10, min_bytes=256)
            step = span = own = 0
            while step < RTL_STEPS:
                optimizer.zero_grad()
                with offloading:
                    backward(models[0], step, rank)
                optimizer.host_state = lambda number=step + 1: str(number).encode()
                victim, part, begin = shared.randrange(count), shared.random(), failing.cycles
                cut = span and own < 2 and rank == victim
                failing.time = begin + int(part * span) if cut else None
                try:
                    optimizer.step()
                    failing.time, step, span = None, step + 1, failing.cycles - begin
                except RankError as error:
                    assert f"rank {victim}: PowerFailed" in str(error), error
                    own += 1
                    if rank == victim:
                        failing.power_cycle()
                        device.recover()
                    optimizer = kind(models[0].parameters(), lr=0.01, device=device, recovered=True)
                    assert int(optimizer.recovered_host_state or 0) in (step, step + 1)
                    step = int(optimizer.recovered_host_state or 0)
            failing.time = None
            (weights, state), expected = parts_of(models[0], optimizer), parts_of(models[1], theirs)
            assert weights == expected[0]
            assert state == {key: value for key, value in expected[1].items() if key in state}
            compared += sum(map(len, weights)) // 4 + sum(map(len, state.values())) // 4
            assert offloading.report().total.read_bytes > 0
        happened, trainings = happened + own, trainings + 1
    return happened, trainings, compared


# What is refused, by all ranks alike.


def message(action):
    """The type and the message of the exception that an action raises."""
    try:
        action()
    except FlashtrainError as error:
        return f"{type(error).__name__}: {error}"
    return "nothing"


def refusals(rank, count, folder):
    """The messages of a rank by the name of the mistake."""
    odd, model, said = rank == 1, sharded(count), {}

    def made(kind=AdamW, parameters=None, preset="tiny", node=UPDATE_NODE, **options):
        with open_device(preset, node=node, memory_bytes=1 << 18) as device:
            return kind(model.parameters() if parameters is None else parameters, device=device, **options)

    said["preset"] = message(lambda: made(preset="tiny_ecc" if odd else "tiny"))
    config = preset("tiny")
    other = replace(config, geometry=replace(config.geometry, blocks=80))
    said["configuration"] = message(lambda: made(preset=other if odd else config))
    said["node"] = message(lambda: made(node=replace(UPDATE_NODE, name="mine") if odd else UPDATE_NODE))
    said["kind"] = message(lambda: made(Adam if odd else AdamW))
    said["format"] = message(lambda: made(gradient_format=GradientFormat.BF16 if odd else None))
    said["option"] = message(lambda: made(amsgrad=odd))
    said["commits"] = message(lambda: made(commits=PinEveryCommit()))
    said["journal"] = message(lambda: made(node=NodeTable("bare", UPDATE_NODE.streams[:-1])))
    parts = network()[1 + rank : 2 + rank]
    initialise(parts, seed=rank)
    said["replicas"] = message(lambda: made(parameters=parts.parameters()))
    from torch.distributed.optim import ZeroRedundancyOptimizer  # it warns of what PyTorch ends

    parts = network()
    zero = partial(ZeroRedundancyOptimizer, parts.parameters(), optimizer_class=AdamW, lr=0.1)
    with open_device("tiny", node=UPDATE_NODE) as device:
        said["parts"] = message(lambda: zero(device=device))
    said["own parameters"] = message(lambda: made(own_parameters=odd))
    alone = init_device_mesh("cpu", (count, 1), mesh_dim_names=("all", "one"))["one"]
    row = nn.Parameter(distribute_tensor(torch.ones(1, 4), init_device_mesh("cpu", (count,)), [Shard(0)]))
    part = nn.Parameter(distribute_tensor(torch.ones(4, 4), alone))
    said["overlap"] = message(lambda: made(parameters=network().parameters(), overlap=True))
    said["matrix early"] = message(lambda: made(muon, overlap=True))
    said["own matrix"] = message(lambda: made(muon, own_parameters=True))
    said["rows"] = message(lambda: made(muon, [row]))
    said["mesh"] = message(lambda: made(parameters=[part]))
    said["nothing"] = message(lambda: made(recovered=True))

    # The images of devices.
    def opened(image, **options):
        return open_rank_device("tiny", node=UPDATE_NODE, image=f"{folder}/{image}.img", **options)

    said["one device"] = message(lambda: opened("same"))
    with opened("own{rank}") as device:
        optimizer = AdamW(model.parameters(), device=device)
        said["no checkpoint"] = message(lambda: optimizer.restore("a name"))
        backward(model, 0, rank)
        optimizer.step()
        said["gradient"] = message(lambda: step_with(optimizer, odd))
    shutil.copy(f"{folder}/own{rank}.img", f"{folder}/old{rank}.img")
    with opened("own{rank}") as device:
        optimizer = AdamW(model.parameters(), device=device, recovered=True)
        now = [0.0]
        if odd:
            device.wear_budget = WearBudget(1e9, OverBudget.REFUSE, window_seconds=1.0, clock=lambda: now[0])
        for step in range(3):
            backward(model, step, rank)
            if step == 2:
                now[0] = 2.0
                said["wear"] = message(optimizer.step)
                device.wear_budget = None
            optimizer.step()
    for name, image in (("swapped", f"own{1 - rank}"), ("generation", f"old{rank}" if odd else f"own{rank}")):
        dist.barrier()  # the other rank has closed it
        with opened(image) as device:
            said[name] = message(lambda: AdamW(model.parameters(), device=device, recovered=True))
    return said


def step_with(optimizer, odd):
    """A step for which one rank has a rate that none may have."""
    optimizer.param_groups[0]["lr"] = -1.0 if odd else 0.01
    try:
        optimizer.step()
    finally:
        optimizer.param_groups[0]["lr"] = 0.01


# Steps that fail on one rank, and generations to which all go back.


def undone(rank, count):
    """A training with steps that one rank cannot commit, and one without, which are equal throughout."""
    models, odd = [sharded(count) for _ in range(2)], rank == 1
    with open_device("tiny", node=UPDATE_NODE) as first, open_device("tiny", node=UPDATE_NODE) as second:
        made = zip(models, (first, second), strict=True)
        cut, whole = optimizers_of = [AdamW(model.parameters(), device=device) for model, device in made]

        def step(number, which=(0, 1)):
            for one in which:
                optimizers_of[one].zero_grad()
                backward(models[one], number, rank)
                optimizers_of[one].step()

        def same():
            assert parts_of(models[0], cut) == parts_of(models[1], whole)

        step(0)
        cut.host_state = lambda: os.urandom(100_000 if odd else 3)
        said = [message(lambda: step(1, [0]))]
        cut.host_state = bytes
        same()
        fails = patch.object(OptimizerState, "commit", side_effect=CheckpointError("no page"))
        with fails if odd else nullcontext():
            said.append(message(lambda: step(1, [0])))
        same()
        step(1)
        same()
        cut.pin("two")
        for number in (2, 3):
            step(number, [0])
        cut.restore("two")
        same()
        first.link.power_cycle()
        first.recover()
        optimizers_of[0] = cut = AdamW(models[0].parameters(), device=first, recovered=True)
        assert cut.stores == 0
        same()
        for number in (4, 5, 6):
            step(number)
            same()
        assert [one.name for one in cut.checkpoints.checkpoints] == ["two"]
        assert (cut.stores, whole.stores) == (0, 1)
    return said


def matrices_undone(rank, count):
    """Steps by Muon that one rank cannot take, while the others compute a matrix with it: what all say."""
    model, odd, said = sharded(count), rank == 1, []
    ahead, calls = MuonStep._ahead, Counter()

    def failing(*args):
        calls["ahead"] += 1
        if odd and calls["ahead"] == calls["last"]:
            raise CheckpointError("no page")
        return ahead(*args)

    with open_device("tiny", node=UPDATE_NODE) as device, patch.object(MuonStep, "_ahead", failing):
        optimizer = muon(model.parameters(), lr=0.01, device=device)
        matrices = len(parted(model.parameters())[0])
        backward(model, 0, rank)
        before = parts_of(model, optimizer)
        optimizer.max_norm = 0.01
        for last in (1, 2, matrices + 2):  # and in the second pass of a step that is clipped
            calls.clear()
            calls["last"] = last
            said.append(message(optimizer.step))
            assert parts_of(model, optimizer) == before
        calls.clear()
        optimizer.found_inf = torch.ones(()) if odd else None
        optimizer.step()
        assert parts_of(model, optimizer) == before
        optimizer.found_inf = None
        optimizer.step()
        assert parts_of(model, optimizer) != before and not optimizer.report.skipped
    return said


def agreement_time(rank, count, repeats=200):
    """Milliseconds of the agreements of a step, and of an all-reduce and a barrier of PyTorch."""
    ranks, row = ranks_of(None, PLAIN), torch.zeros(count, 8, dtype=torch.float64)

    def agreements():
        ranks.join(Totals(), 0)
        ranks.confirm(None)

    def bare():
        dist.all_reduce(row)
        dist.barrier()

    found = []
    for action in (agreements, bare):
        action()
        begin = perf_counter()
        for _ in range(repeats):
            action()
        found.append(1000 * (perf_counter() - begin) / repeats)
    return found


def on_rtl(rank, count, link):
    """Two steps of FSDP2 on the RTL, the second one clipped, beside the same in memory; the numbers compared.

    The activations of the forward passes are on the flash as well.
    """
    compared = 0
    for kind in (AdamW, muon):
        models = [sharded(count) for _ in range(2)]
        with open_device("tiny", link, UPDATE_NODE, memory_bytes=1 << 19) as device, correct_root():
            offloading = OffloadActivations(device, memory_bytes=1 << 10, min_bytes=256)
            ours = kind(models[0].parameters(), lr=0.01, device=device)
            theirs = THEIRS[kind](models[1].parameters(), lr=0.01, foreach=False)
            for step, limit in enumerate((None, 0.01)):
                with offloading:
                    backward(models[0], step, rank)
                backward(models[1], step, rank)
                ours.max_norm = limit
                ours.step()
                if limit is not None:
                    clip(ours, models[1])
                theirs.step()
                (weights, state), expected = parts_of(models[0], ours), parts_of(models[1], theirs)
                assert weights == expected[0], (kind, step)
                assert state == {key: value for key, value in expected[1].items() if key in state}
                compared += sum(map(len, weights)) // 4 + sum(map(len, state.values())) // 4
                for optimizer in (ours, theirs):
                    optimizer.zero_grad()
            assert device.cycles > 0
            assert offloading.report().total.read_bytes > 0
    return compared
