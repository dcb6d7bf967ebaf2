"""Networks by the names of their modules, data from files, and one line for each mistake in them."""

import re
from dataclasses import dataclass, replace

import numpy as np
import pytest

from flashtrain.reading import InputError
from flashtrain.training.data import Examples
from flashtrain.training.errors import DataError, NetworkError
from flashtrain.training.layers import Embedding, Linear, ReLU
from flashtrain.training.losses import MeanSquaredError
from flashtrain.training.networks import Network
from flashtrain.training.own import fitting, load_data, load_network, try_network

HEAD = """\
from flashtrain.training.layers import Linear
from flashtrain.training.networks import Network
"""
NET = HEAD + 'NETWORK = Network("net", (4,), 3, (("output", Linear(4, 3)),))\n'
NETWORK = Network("net", (4,), 3, (("output", Linear(4, 3)),))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_file_and_a_module_in_the_current_folder(here):
    (here / "my").mkdir()
    (here / "my" / "helper.py").write_text("WIDTH = 3\n", encoding="utf-8")
    text = NET.replace("4, 3", "4, WIDTH") + "def make(width=4):\n    return NETWORK\n"
    (here / "my" / "net.py").write_text("from helper import WIDTH\n" + text, encoding="utf-8")
    assert load_network("my/net.py:NETWORK") == load_network(f"{here}/my/net.py:make") == NETWORK
    (here / "my_package").mkdir()
    (here / "my_package" / "module.py").write_text(NET, encoding="utf-8")
    assert load_network("my_package.module:NETWORK") == NETWORK
    assert load_network("flashtrain.training.networks:mlp").name == "mlp"


MISTAKES = {
    "net.py": ("'net.py' is no MODULE:NAME, such as my/net.py:NETWORK", None),
    "net.py:": ("'net.py:' is no MODULE:NAME", None),
    "other.py:NETWORK": ("other.py: no such file", None),
    "no_such_module:NETWORK": ("there is no module no_such_module, neither in", None),
    "flashtrain.nothing:NETWORK": ("there is no module flashtrain.nothing, neither in", None),
    "net.py:OTHER": ("net.py has no OTHER; its networks are NETWORK", NET),
    "empty.py:OTHER": ("empty.py has no OTHER; it has no networks", ""),
    "kind.py:N": ("kind.py:N is a dict; expected a Network, or a callable that returns one", "N = {}"),
    "gives.py:N": ("gives.py:N() returns a NoneType; expected a Network", "def N(): pass"),
    "raises.py:N": ("raises.py: raises.py:2: NameError: name 'foo' is not defined", "\nN = foo"),
    "deep.py:N": ("deep.py: deep.py:2: ZeroDivisionError", "def f():\n    return 1 / zero\nzero = 0\nf()\n"),
    "calls.py:N": ("calls.py:N(): calls.py:2: ValueError: bad", "def N():\n raise ValueError('bad\\nmore')"),
    "takes.py:N": ("takes.py:N(): TypeError", "def N(width): pass"),
    "syntax.py:N": ("syntax.py: syntax.py:2: SyntaxError: ", "\nN = ("),
    "needs.py:N": ("needs.py: needs.py:1: ModuleNotFoundError: No module named 'no_such'", "import no_such"),
    "leaves.py:N": ("leaves.py: leaves.py:1: SystemExit: 3", "raise SystemExit(3)"),
    "shape.py:N": (
        "shape.py: shape.py:3: ShapeError: network net: expected an output of shape (..., 5), got (3,)",
        HEAD + 'N = Network("net", (4,), 5, (("output", Linear(4, 3)),))',
    ),
    "numpy_.py:N": ("numpy_.py: numpy_.py:2: ValueError: ", "import numpy\nnumpy.broadcast_shapes(2, 3)"),
    "mod_needs:N": ("mod_needs: mod_needs.py:1: ModuleNotFoundError: ", "import no_such"),
}  # fmt: skip


@pytest.mark.parametrize("reference", MISTAKES)
def test_mistakes_in_a_module(reference, here):
    message, text = MISTAKES[reference]
    if text is not None:
        (here / f"{reference.partition(':')[0].removesuffix('.py')}.py").write_text(text, encoding="utf-8")
    with pytest.raises(NetworkError, match=re.escape(message)) as caught:
        load_network(reference)
    assert "\n" not in str(caught.value)


GOOD = {
    "train_inputs": np.ones((6, 4)), "train_targets": np.array([0, 1, 2, 0, 1, 2]),
    "test_inputs": np.ones((2, 4), np.uint8), "test_targets": np.array([2, 1], np.uint8),
}  # fmt: skip


def test_a_file_of_data(here):
    np.savez("data.npz", **GOOD)
    data = load_data(here / "data.npz", NETWORK)
    assert (data.train.inputs.dtype, data.train.targets.dtype) == (np.float32, np.uint8)
    assert len(data.train) == 6 and len(data.test) == 2
    keras = dict(zip(("x_train", "y_train", "x_test", "y_test"), GOOD.values(), strict=True))
    np.savez_compressed("keras.npz", **keras)
    again = load_data(here / "keras.npz", NETWORK)
    assert np.array_equal(again.train.inputs, data.train.inputs)
    curve = replace(NETWORK, outputs=1, layers=(("output", Linear(4, 1)),), loss=MeanSquaredError())
    data = load_data(here / "data.npz", curve)
    assert data.train.targets.tolist() == [[0], [1], [2], [0], [1], [2]]
    assert data.train.targets.dtype == np.float32


BAD = {
    "shape": ("train_inputs", np.ones((6, 5)), "train_inputs has the shape (6, 5); expected (n, 4)"),
    "axes": ("test_targets", np.ones((2, 1), int), "test_targets has the shape (2, 1); expected (n,)"),
    "count": ("train_targets", np.ones(5, int), "train_inputs has 6 examples, but train_targets has 5"),
    "empty": ("test_inputs", np.ones((0, 4)), "test_inputs has no examples; expected at least one"),
    "nan": (
        "train_inputs", np.where(np.arange(24).reshape(6, 4) == 9, np.nan, 1),
        "train_inputs: element [2, 1] is nan; expected finite float32 numbers",
    ),
    "large": ("test_inputs", np.full((2, 4), 1e300), "test_inputs: element [0, 0] is 1e+300; expected"),
    "text": ("train_inputs", np.full((6, 4), "a"), "train_inputs is <U1; expected numbers"),
    "complex": ("train_inputs", np.ones((6, 4), complex), "train_inputs is complex128; expected numbers"),
    "labels": ("train_targets", np.ones(6), "train_targets is float64; expected integers from 0 to 2"),
    "range": ("test_targets", np.array([0, 3]), "test_targets: element [1] is 3; expected 0 to 2"),
    "negative": ("test_targets", np.array([-1, 0]), "test_targets: element [0] is -1; expected 0 to 2"),
    "objects": ("train_inputs", np.array([{}]), "array train_inputs: has Python objects, which would"),
    "missing": ("test_inputs", None, "no array test_inputs; it has train_inputs, train_"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_mistakes_in_data(case, here):
    name, array, message = BAD[case]
    arrays = {**GOOD, name: array}
    np.savez("data.npz", **{key: each for key, each in arrays.items() if each is not None})
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        load_data(here / "data.npz", NETWORK)
    assert "data.npz: " in str(caught.value) and "\n" not in str(caught.value)


def test_files_that_are_none(here):
    (here / "text.npz").write_text("no numbers", encoding="utf-8")
    (here / "nothing.npz").write_bytes(b"")
    np.savez("whole.npz", **GOOD)
    (here / "half.npz").write_bytes((here / "whole.npz").read_bytes()[:300])
    for name in ("text", "nothing", "half"):
        with pytest.raises(
            InputError, match=rf"{name}\.npz: (has no header of a \.npy file|has no end of a \.npz file)"
        ):
            load_data(here / f"{name}.npz", NETWORK)
    np.save("one.npy", np.ones(3))
    with pytest.raises(InputError, match=r"one\.npy: has one array without a name; expected a \.npz file"):
        load_data(here / "one.npy", NETWORK)
    with pytest.raises(InputError, match=r"missing\.npz: cannot be read: No such file"):
        load_data(here / "missing.npz", NETWORK)


def test_tokens_are_checked_against_the_vocabulary(here):
    words = Network("words", (2,), 3, (("embed", Embedding(7, 3)),))
    good = {**GOOD, "train_inputs": np.full((6, 2), 6), "test_inputs": np.zeros((2, 2), int)}
    good |= {"train_targets": np.zeros((6, 2), int), "test_targets": np.zeros((2, 2), int)}
    np.savez("data.npz", **good)
    assert load_data(here / "data.npz", words).train.inputs.dtype == np.uint8
    np.savez("data.npz", **{**good, "train_inputs": np.full((6, 2), 7)})
    with pytest.raises(InputError, match=r"train_inputs: element \[0, 0\] is 7; expected 0 to 6"):
        load_data(here / "data.npz", words)


def test_the_digits_fit_a_network_or_not(data):
    with pytest.raises(
        DataError, match=r"digits: train_inputs has the shape \(1438, 8, 8\); expected \(n, 4\)"
    ):
        fitting("digits", data, NETWORK)


@dataclass(frozen=True)
class Odd(ReLU):
    """A layer that breaks its contract in one place."""

    fault: str = ""

    def output_shape(self, input_shape):
        return (3,) if self.fault == "shape" else input_shape

    def parameter_shapes(self):
        return {"w": (2,)} if self.fault == "parameters" else {}

    def saved_specs(self, batch, input_shape):
        return {} if self.fault == "saved" else super().saved_specs(batch, input_shape)

    def forward(self, parameters, x):
        y, saved = super().forward(parameters, x)
        return (
            y.astype(np.float64) if self.fault == "dtype" else y @ x if self.fault == "raises" else y
        ), saved

    def backward(self, parameters, saved, dy):
        dx, _ = super().backward(parameters, saved, dy)
        return dx, ({"w": dx} if self.fault == "gradients" else {})

    def evaluate(self, parameters, running, x):
        return x / None if self.fault == "evaluation" else x


@pytest.mark.parametrize(
    ("fault", "message"),
    {
        "shape": "layer odd (Odd): outputs: y: expected float32[2, 3], got float32[2, 4]",
        "parameters": "layer odd (Odd): parameters are []; expected ['w']",
        "saved": "layer odd (Odd): saved arrays are ['positive']; expected []",
        "dtype": "layer odd (Odd): outputs: y: expected float32[2, 4], got float64[2, 4]",
        "raises": "layer odd (Odd): tests/training/test_own.py:",
        "gradients": "layer odd (Odd): gradients are ['w']; expected []",
        "evaluation": "evaluation: tests/training/test_own.py:",
    }.items(),
)
def test_layers_that_break_their_contract(fault, message, request, monkeypatch):
    monkeypatch.chdir(request.config.rootpath)
    examples = Examples(np.ones((5, 4), np.float32), np.zeros(5, np.uint8))

    def network(fault):
        width = 3 if fault == "shape" else 4
        return Network("net", (4,), 3, (("odd", Odd(fault)), ("output", Linear(width, 3))))

    try_network(network(""), examples)
    with pytest.raises(NetworkError, match=re.escape(message)):
        try_network(network(fault), examples)
