"""docs/optimizers.md: its listings are the programs, its example runs, its figures are measured."""

import re
from pathlib import Path

import numpy as np
import pytest
import torch

from flashtrain.host import TensorGroup, open_device
from flashtrain.numerics.statistics import add_squares
from flashtrain.spec.optimizer import PARTIAL_SUMS, PROGRAMS, OptimizerCode
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.training.optimizers import SGD, Adam
from tests.training.optimizers.test_torch import (
    ADAM_FAMILY,
    fused_kernels,  # noqa: F401
    torch_optimizer,
    weight_units,
)

F = np.float32

PAGE = (Path(__file__).parents[3] / "docs" / "optimizers.md").read_text(encoding="utf-8")
FAST = {OptimizerCode.ADAM_FAST: OptimizerCode.ADAM, OptimizerCode.ADAMW_FAST: OptimizerCode.ADAMW}


@pytest.mark.parametrize("code", [code for code in OptimizerCode if code not in FAST])
def test_listings(code):
    assert f"**{code.name}**" in PAGE
    after = PAGE.partition(f"**{code.name}**")[2]
    listing = re.search(r"```text\n(.*?)\n```", after, re.DOTALL)
    assert listing is not None and listing[1] == str(PROGRAMS[code])


@pytest.mark.parametrize("code", FAST)
def test_fast_programs_differ_in_one_operation(code):
    operation = "m = fma(MEAN_GAIN, change, g)"
    assert f"`{operation}`" in PAGE
    slow = str(PROGRAMS[FAST[code]])
    assert str(PROGRAMS[code]) == slow.replace("m = fma(MEAN_GAIN, change, M)", operation)


def test_examples(capsys):
    step, formats, halves = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(step, {})
    # Two steps of the learning rate, and a little decay; a thousand squares of 1/2.
    assert capsys.readouterr().out.startswith("0.99")
    exec(formats, {})
    *moments, nbytes = capsys.readouterr().out.replace("[", "").replace("]", "").split()
    # 0.05 lies between these two; w in four bytes, m and v in two.
    assert set(map(float, moments)) == {0.04980469, 0.05004883} and nbytes == "8000"
    exec(halves, {})
    assert capsys.readouterr().out.split() == ["0x3f9e", "2.0", "1.2345678"]


def test_figures_after_hundred_steps():
    """Optimizers with lr = 0.001, ten seeds each, 1,003 weights; within what processors differ in."""
    found = re.search(
        r"([\d.]+) % of the weights of Adam and AdamW \(lr = 0.001\) are equal. All but (\d+) of\s([\d,]+) "
        r"are within 2 units .* the largest distance is (\d+) units",
        PAGE,
        re.DOTALL,
    )
    assert found is not None
    equal, beyond, weights, largest = (float(text.replace(",", "")) for text in found.groups())
    optimizers = [optimizer for optimizer in ADAM_FAMILY if optimizer.learning_rate == 1e-3]
    distances = [_after_hundred_steps(optimizer, seed) for optimizer in optimizers for seed in range(1, 11)]
    measured = np.concatenate(distances)
    print(f"{measured.size} weights: {100 * np.mean(measured == 0):.1f} % are equal; "
          f"{np.sum(measured > 2)} beyond 2 units, the largest distance {measured.max()}")  # fmt: skip
    assert measured.size == weights
    # PyTorch's kernels differ by the processor's instructions: on some more weights are equal.
    assert 100 * np.mean(measured == 0) > equal - 1
    assert np.sum(measured > 2) <= 2 * beyond + 10
    assert measured.max() <= 2 * largest


def _after_hundred_steps(optimizer, seed):
    random = np.random.default_rng(seed)
    w, target = random.standard_normal((2, 1003)).astype(F)
    state, start = optimizer.initial_state(w), w
    parameter = torch.nn.Parameter(torch.from_numpy(w.copy()))
    theirs = torch_optimizer(optimizer, parameter)
    for t in range(1, 101):
        g = F(0.1) * (w - target) + F(0.1) * random.standard_normal(1003).astype(F)
        w, state = optimizer.step(w, g, state, t)
        parameter.grad = torch.from_numpy(g.copy())
        theirs.step()
    return weight_units(start, w, parameter.detach().numpy())


def test_unscaling_by_a_power_of_two(seed):
    assert "The exception are unscaled gradients that are subnormal." in PAGE
    random = np.random.default_rng(seed)
    w, state = random.standard_normal(20_000).astype(F), {}
    unscale, clip = 2.0**-16, 0.3

    def differ(g):
        at_once, _ = SGD(1.0).step(w * 0, g, state, 1, unscale, clip)
        in_turn, _ = SGD(1.0).step(w * 0, g * F(unscale), state, 1, 1.0, clip)
        return at_once.view(np.uint32) != in_turn.view(np.uint32)

    assert not differ(w).any()
    assert differ(w * F(2.0**-118)).any(), "unscaled they are about 2**-134"


def test_squares_are_counted_from_the_first_gradient_of_a_tile(seed):
    assert "gradient i of a tile goes to sum i mod S" in PAGE
    assert "a die's sums start from +0 and go on over its tiles" in PAGE
    with open_device("tiny", node=UPDATE_NODE) as device:
        channels, dies = device.config.geometry.channels, device.config.geometry.dies
        assert dies == 1, "the tiles of a channel are all on one die"
        group = TensorGroup(OptimizerCode.ADAM, ((1,),))
        n = group.layout(device.config.geometry).tile.parameters
        assert n % PARTIAL_SUMS, "else it makes no difference"
        group = TensorGroup(OptimizerCode.ADAM, ((2 * channels * n,),))
        g = np.random.default_rng(seed).standard_normal(2 * channels * n).astype(F)
        state = device.optimizer_state([group])
        state.initialise([[np.zeros_like(g)]])
        state.update([[g]], [Adam().constants(1)])
        for channel, die in enumerate(state.statistics[0]):
            sums = np.zeros(PARTIAL_SUMS, F)
            for tile in g.reshape(2, channels, n)[:, channel]:
                sums = add_squares(sums, tile)
            assert np.array(die.squares).tobytes() == sums.tobytes()
