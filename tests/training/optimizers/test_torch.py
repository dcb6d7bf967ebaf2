"""Distance to `torch.optim` (foreach=False, fused=False, on the CPU), in units in the last place, printed.

m, v, and the weights of the SGD family are equal to the bit, whatever the numbers. So are the weights of Adam
if PyTorch's square root is rounded correctly. That of its x86 builds is MKL's, which in one of six cases is a
unit off; the distance that comes of this is measured, too.
"""

import itertools
from dataclasses import replace
from unittest.mock import patch

import numpy as np
import pytest
import torch

from flashtrain.sim.bench import float_vectors
from flashtrain.training.optimizers import SGD, SGDW, Adam, AdamW, AdamWScheduleFree, Lion, Momentum, Nesterov
from tests.torch.authors_lion import AuthorsLion
from tests.torch.authors_schedule_free import AuthorsScheduleFree

F = np.float32
ITERATIONS = (1, 2, 3, 10, 100, 1000, 100_000)
SIZE = 20_000 + 5  # with a tail, which vectorised kernels compute otherwise

SGD_FAMILY = [
    SGD(0.1),
    SGD(0.03, weight_decay=0.01),
    Momentum(0.1, 0.9),
    Momentum(0.01, 0.95, weight_decay=1e-4),
    Nesterov(0.1, 0.9),
    Nesterov(0.01, 0.95, weight_decay=1e-4),
]
ADAM_FAMILY = [
    Adam(1e-3),
    Adam(1e-3, weight_decay=0.01),
    Adam(0.02, 0.8, 0.99, 1e-6),
    Adam(1e-3, 0.5),
    Adam(1e-3, 0.0, 0.9, weight_decay=0.01),
    AdamW(1e-3),
    AdamW(0.02, 0.8, 0.99, 1e-6, weight_decay=0.1),
    AdamW(1e-3, 0.3),
]


@pytest.fixture(autouse=True)
def fused_kernels():
    """The order of operations follows kernels with fused multiply-add, which need AVX2 or AVX-512."""
    if torch.backends.cpu.get_cpu_capability() not in ("AVX2", "AVX512"):
        pytest.skip("this processor has no AVX2: PyTorch's kernels round otherwise")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


def torch_optimizer(optimizer, parameter):
    """The same optimizer of PyTorch, for one parameter."""
    how = {
        "lr": optimizer.learning_rate,
        "weight_decay": optimizer.weight_decay,
        "foreach": False,
        "fused": False,
    }
    if isinstance(optimizer, Adam):
        kind = torch.optim.AdamW if isinstance(optimizer, AdamW) else torch.optim.Adam
        return kind([parameter], betas=(optimizer.beta1, optimizer.beta2), eps=optimizer.epsilon, **how)
    if isinstance(optimizer, Momentum):
        how |= {"momentum": optimizer.momentum, "nesterov": isinstance(optimizer, Nesterov)}
    return torch.optim.SGD([parameter], **how)


def torch_step(optimizer, w, g, state, t):
    """New w and state after one step of PyTorch from the same numbers."""
    parameter = torch.nn.Parameter(torch.from_numpy(w.copy()))
    parameter.grad = torch.from_numpy(g.copy())
    theirs = torch_optimizer(optimizer, parameter)
    names = {"m": "exp_avg", "v": "exp_avg_sq"} if isinstance(optimizer, Adam) else {"m": "momentum_buffer"}
    theirs.state[parameter] = {names[name]: torch.from_numpy(array.copy()) for name, array in state.items()}
    if isinstance(optimizer, Adam):
        theirs.state[parameter]["step"] = torch.tensor(float(t - 1))
    theirs.step()
    return parameter.detach().numpy(), {name: theirs.state[parameter][names[name]].numpy() for name in state}


def correct_root():
    """PyTorch with a square root of float32 that is rounded correctly: NumPy's."""
    return patch.object(torch.Tensor, "sqrt", lambda tensor: torch.from_numpy(np.sqrt(tensor.numpy())))


def order(array):
    """Integers in the order of the numbers, one apart where these are neighbours; both zeros are 0."""
    bits = np.ascontiguousarray(array, F).view(np.int32).astype(np.int64)
    return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)


def ulps(a, b):
    """Distance in floats from one to the other; NaNs are equal to each other, and far from all else."""
    distance = np.abs(order(a) - order(b))
    nan = np.isnan(a), np.isnan(b)
    return np.where(nan[0] & nan[1], 0, np.where(nan[0] | nan[1], 1 << 32, distance))


def weight_units(old, ours, theirs):
    """Distance of new weights in units of the weight, the old or the new, whichever is larger."""
    unit = np.spacing(np.maximum(np.abs(old), np.abs(ours)))
    return np.abs(ours.astype(np.float64) - theirs) / unit


def histogram(distances):
    """Share of each distance, rounded up; those of 9 and more are counted as 9."""
    whole = np.minimum(np.ceil(np.concatenate(distances)), 9).astype(int)
    shares = np.bincount(whole) / len(whole)
    return ", ".join(f"{distance}: {share:.4%}" for distance, share in enumerate(shares) if share)


def training_like(random, optimizer, weight_scale, size=SIZE):
    """Weights, gradients and state as they occur in training."""
    w = random.standard_normal(size) * weight_scale
    g = random.standard_normal(size) * 0.01
    numbers = {
        "m": 0.3 * g + random.standard_normal(size) * 3e-3,
        "v": random.standard_normal(size) ** 2 * 1e-4,
    }
    return w.astype(F), g.astype(F), {name: numbers[name].astype(F) for name in optimizer.state_names}


def difficult(random, optimizer, size=SIZE):
    """Any finite weights; gradients and state of every kind, subnormal, infinite and NaN."""
    w, g, m, v = (float_vectors.values(random, size).view(F) for _ in range(4))
    numbers = {"m": m, "v": np.abs(v)}
    return np.where(np.isfinite(w), w, F(1)), g, {name: numbers[name] for name in optimizer.state_names}


@pytest.mark.parametrize("optimizer", SGD_FAMILY, ids=str)
@pytest.mark.parametrize(
    "numbers", [lambda r, o: training_like(r, o, 0.02), difficult], ids=["plain", "difficult"]
)
def test_sgd_is_equal_to_the_bit(optimizer, numbers, seed):
    random = np.random.default_rng(seed)
    for size in (SIZE, 1, 3):
        w, g, state = (part if isinstance(part, dict) else part[:size] for part in numbers(random, optimizer))
        state = {name: array[:size] for name, array in state.items()}
        ours, theirs = optimizer.step(w, g, state, 2), torch_step(optimizer, w, g, state, 2)
        assert ulps(ours[0], theirs[0]).max() == 0
        assert all(ulps(ours[1][name], theirs[1][name]).max() == 0 for name in state)


@pytest.mark.parametrize(
    "numbers", [lambda r, o: training_like(r, o, 0.02), difficult], ids=["plain", "difficult"]
)
@pytest.mark.parametrize("kind", [torch.float32, torch.bfloat16], ids=["float32", "bfloat16"])
def test_sgdw_is_the_end_of_a_step_of_muon(numbers, kind, seed):
    """`torch.optim.Muon` shrinks the weight and adds a BF16 tensor; PyTorch's SGD has no such decay."""
    random, optimizer = np.random.default_rng(seed), SGDW(0.03, weight_decay=0.1)
    for size in (SIZE, 1, 3):
        w, g, _ = numbers(random, optimizer)
        given = torch.from_numpy(g[:size]).to(kind)
        theirs = torch.from_numpy(w[:size].copy()).mul_(1 - 0.03 * 0.1).add_(given, alpha=-0.03).numpy()
        ours, _ = optimizer.step(w[:size], given.to(torch.float32).numpy(), {}, 1)
        assert ulps(ours, theirs).max() == 0


@pytest.mark.parametrize(
    "numbers", [lambda r, o: training_like(r, o, 0.02), difficult], ids=["plain", "difficult"]
)
@pytest.mark.parametrize("optimizer", [Lion(), Lion(0.03, 0.95, 0.98, weight_decay=0.1)], ids=str)
def test_lion_is_equal_to_its_authors_code(optimizer, numbers, seed):
    random = np.random.default_rng(seed)
    for size in (SIZE, 1, 3):
        w, g, state = numbers(random, optimizer)
        parameter = torch.nn.Parameter(torch.from_numpy(w[:size].copy()))
        parameter.grad = torch.from_numpy(g[:size].copy())
        betas = optimizer.beta1, optimizer.beta2
        theirs = AuthorsLion([parameter], optimizer.learning_rate, betas, optimizer.weight_decay)
        theirs.state[parameter]["exp_avg"] = torch.from_numpy(state["m"][:size].copy())
        ours = optimizer.step(w[:size], g[:size], {"m": state["m"][:size]}, 1)
        theirs.step()
        # PyTorch's sign of a NaN is 0: it loses the NaN that the dies keep.
        known = ~np.isnan(ours[0])
        assert ulps(ours[0], parameter.detach().numpy())[known].max(initial=0) == 0
        assert ulps(ours[1]["m"], theirs.state[parameter]["exp_avg"].numpy()).max() == 0


FREE = [AdamWScheduleFree(), AdamWScheduleFree(0.01, 0.6, 0.99, 1e-6, weight_decay=0.1)]


def authors_schedule_free(optimizer, w, state, t):
    """Their optimizer behind `t` - 1 steps of this learning rate, and its parameter."""
    parameter = torch.nn.Parameter(torch.from_numpy(w.copy()))
    lr, betas = optimizer.learning_rate, (optimizer.beta1, optimizer.beta2)
    theirs = AuthorsScheduleFree([parameter], lr, betas, optimizer.epsilon, optimizer.weight_decay)
    theirs.train()
    theirs.param_groups[0] |= {"k": t - 1, "weight_sum": (t - 1) * lr**2.0, "lr_max": lr}
    names = {"m": "z", "v": "exp_avg_sq"}
    theirs.state[parameter] = {names[name]: torch.from_numpy(array.copy()) for name, array in state.items()}
    return theirs, parameter


def exact_schedule_free(optimizer, w, g, state, t):
    """New y and z in double precision."""
    y, g, z, v = (array.astype(np.float64) for array in (w, g, state["m"], state["v"]))
    v = optimizer.beta2 * v + (1 - optimizer.beta2) * g * g
    step = g / (np.sqrt(v / (1 - optimizer.beta2**t)) + optimizer.epsilon) + optimizer.weight_decay * y
    lead = 1 - optimizer.beta1 * (1 - 1 / t)
    lr = optimizer.learning_rate
    return y + (z - y) / t - lr * lead * step, z - lr * step


@pytest.mark.parametrize("optimizer", FREE, ids=str)
def test_schedule_free_is_as_near_to_exact_steps_as_its_authors_code(optimizer, seed):
    """v is equal to the bit; y and z are rounded at other places, and as far from double precision."""
    random = np.random.default_rng(seed)
    errors = {"ours": [], "theirs": []}
    for t in (1, 2, 3, 10, 1000, 100_000):
        w, g, state = training_like(random, optimizer, 0.02)
        state["m"] = (w + random.standard_normal(SIZE) * 1e-3).astype(F)
        theirs, parameter = authors_schedule_free(optimizer, w, state, t)
        parameter.grad = torch.from_numpy(g.copy())
        theirs.step()
        y, new = optimizer.step(w, g, state, t)
        other = theirs.state[parameter]
        assert ulps(new["v"], other["exp_avg_sq"].numpy()).max() == 0
        exact = exact_schedule_free(optimizer, w, g, state, t)
        found = {"ours": (y, new["m"]), "theirs": (parameter.detach().numpy(), other["z"].numpy())}
        for name, arrays in found.items():
            errors[name].append([np.sqrt(np.mean((a - b) ** 2)) for a, b in zip(arrays, exact, strict=True)])
    ours, theirs = (np.array(one) for one in errors.values())
    ratio = ours / theirs
    print(
        f"{optimizer}: error of y and z, of that of the authors' code: {ratio.min():.2f} to {ratio.max():.2f}"
    )
    assert ratio.max() < 1.5


def test_distance_of_schedule_free_to_its_authors_code(seed):
    """One hundred steps, as in the table of docs/optimizers.md."""
    random = np.random.default_rng(seed)
    optimizer = FREE[0]
    start = w = (random.standard_normal(SIZE) * 0.02).astype(F)
    state = optimizer.initial_state(w)
    theirs, parameter = authors_schedule_free(optimizer, w, state, 1)
    for t in range(1, 101):
        g = (random.standard_normal(SIZE) * 0.01).astype(F)
        w, state = optimizer.step(w, g, state, t)
        parameter.grad = torch.from_numpy(g.copy())
        theirs.step()
        if t in (1, 100):
            distance = weight_units(start, w, parameter.detach().numpy())
            print(f"y after {t} steps, units of the larger weight: {histogram([distance])}")
    assert np.mean(distance <= 4) > 0.9
    x = optimizer.evaluated(w, state)
    same = torch.from_numpy(w).lerp(torch.from_numpy(state["m"]), 1 - 1 / optimizer.beta1)
    assert ulps(x, same.numpy()).max() == 0
    theirs.eval()
    assert np.mean(weight_units(start, x, parameter.detach().numpy()) <= 4) > 0.9


@pytest.mark.parametrize("optimizer", ADAM_FAMILY, ids=str)
def test_moments_of_adam_are_equal_to_the_bit(optimizer, seed):
    random = np.random.default_rng(seed)
    for t in (1, 5, 1000):
        for w, g, state in (training_like(random, optimizer, 0.02), difficult(random, optimizer)):
            _, ours = optimizer.step(w, g, state, t)
            _, theirs = torch_step(optimizer, w, g, state, t)
            assert [ulps(ours[name], theirs[name]).max() for name in ("m", "v")] == [0, 0]


@pytest.mark.parametrize("optimizer", ADAM_FAMILY, ids=str)
def test_weights_of_adam_are_equal_to_the_bit_with_a_correct_root(optimizer, seed):
    random = np.random.default_rng(seed)
    for t in ITERATIONS:
        numbers = [training_like(random, optimizer, scale) for scale in (0.02, 0.0)]
        numbers.append(difficult(random, optimizer))
        for size, (w, g, state) in itertools.product((SIZE, 1, 3), numbers):
            cut = {name: array[:size] for name, array in state.items()}
            ours, _ = optimizer.step(w[:size], g[:size], cut, t)
            with correct_root():
                theirs, _ = torch_step(optimizer, w[:size], g[:size], cut, t)
            assert ulps(ours, theirs).max() == 0


@pytest.mark.parametrize("optimizer", ADAM_FAMILY, ids=str)
def test_weights_of_adam_are_within_a_unit_of_pytorch_as_it_is(optimizer, seed):
    """A unit is that of the weight, the old or the new, whichever is larger.

    That holds for weights from four times their step on. Where a weight and its step nearly cancel, units of
    the result are as small as one likes; the next test has the steps by themselves.
    """
    random = np.random.default_rng(seed)
    of_result, of_larger = [], []
    for t in ITERATIONS:
        w, g, state = training_like(random, optimizer, 0.02)
        ours, _ = optimizer.step(w, g, state, t)
        theirs, _ = torch_step(optimizer, w, g, state, t)
        of_result.append(ulps(ours, theirs))
        of_larger.append(weight_units(w, ours, theirs)[np.abs(w) >= 4 * np.abs(ours - w)])
    print(f"w, units of the result: {histogram(of_result)}")
    print(f"w, units of the larger weight: {histogram(of_larger)}")
    assert np.concatenate(of_larger).max() <= 1
    assert np.mean(np.concatenate(of_result) <= 2) > 0.98


@pytest.mark.parametrize("optimizer", ADAM_FAMILY, ids=str)
def test_steps_of_adam_are_within_a_few_units_of_pytorch_as_it_is(optimizer, seed):
    """Weights of zero become the step itself.

    A root that is a unit off moves the quotients behind it, each of which may be rounded to the other side.
    """
    random = np.random.default_rng(seed)
    distances = []
    optimizer = replace(optimizer, weight_decay=0.0)
    for t in ITERATIONS:
        w, g, state = training_like(random, optimizer, 0.0)
        ours, _ = optimizer.step(w, g, state, t)
        distances.append(ulps(ours, torch_step(optimizer, w, g, state, t)[0]))
    print(f"step, units of the result: {histogram(distances)}")
    assert np.concatenate(distances).max() <= 5
    assert np.mean(np.concatenate(distances) <= 2) > 0.99


@pytest.mark.parametrize("optimizer", ADAM_FAMILY, ids=str)
def test_non_finite_weights_of_adam_are_where_pytorch_has_them(optimizer, seed):
    w, g, state = difficult(np.random.default_rng(seed), optimizer)
    ours, theirs = optimizer.step(w, g, state, 3)[0], torch_step(optimizer, w, g, state, 3)[0]
    np.testing.assert_array_equal(np.isnan(ours), np.isnan(theirs))


@pytest.mark.parametrize("optimizer", [*SGD_FAMILY, *ADAM_FAMILY], ids=str)
def test_hundred_steps(optimizer, seed):
    """Both from the same weights, with the same gradients: noise around a slope that leads to a minimum."""
    random = np.random.default_rng(seed)
    w = random.standard_normal(1003).astype(F)
    target = random.standard_normal(1003).astype(F)
    state, start = optimizer.initial_state(w), w
    parameters = [torch.nn.Parameter(torch.from_numpy(w.copy())) for _ in range(2)]
    corrected, theirs = (torch_optimizer(optimizer, parameter) for parameter in parameters)
    for t in range(1, 101):
        noise = random.standard_normal(1003).astype(F)
        g = F(0.1) * (w - target) + F(0.1) * noise
        w, state = optimizer.step(w, g, state, t)
        for parameter in parameters:
            parameter.grad = torch.from_numpy(g.copy())
        with correct_root():
            corrected.step()
        theirs.step()
    correct, plain = (parameter.detach().numpy() for parameter in parameters)
    assert ulps(w, correct).max() == 0
    distance = weight_units(start, w, plain)
    print(f"after 100 steps, units of the larger weight: {histogram([distance])}")
    if isinstance(optimizer, Adam):
        assert distance.max() <= 20
        assert np.median(distance) <= 1
    else:
        assert distance.max() == 0


@pytest.mark.parametrize("optimizer", [Momentum(0.1), Adam(1e-3), AdamW(1e-3)], ids=str)
def test_loss_scale_and_clipping_as_a_trainer_has_them(optimizer, seed):
    """Gradients unscaled, then clipped by their norm, as two steps in PyTorch: one constant here."""
    random = np.random.default_rng(seed)
    w, g, state = training_like(random, optimizer, 0.02)
    loss_scale = F(2.0**16)
    parameter = torch.nn.Parameter(torch.from_numpy(w))
    parameter.grad = torch.from_numpy(g * loss_scale)
    parameter.grad.mul_(1 / float(loss_scale))
    length = torch.nn.utils.clip_grad_norm_([parameter], 0.5, foreach=False)
    clip = float(torch.clamp(0.5 / (length + 1e-6), max=1.0))
    assert clip < 1
    ours = optimizer.step(w, g * loss_scale, state, 3, unscale=1 / float(loss_scale), clip=clip)
    clipped = optimizer.step(w, parameter.grad.numpy(), state, 3)
    assert ours[0].tobytes() == clipped[0].tobytes()
    assert all(ours[1][name].tobytes() == clipped[1][name].tobytes() for name in state)
