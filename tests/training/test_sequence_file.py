"""The file of a training command sequence: round trip, stable bytes, one exact error for each fault."""

import json

import pytest

from flashtrain.reading import InputError
from flashtrain.training.networks import NETWORKS, mlp
from flashtrain.training.optimizers import SGD, Adam
from flashtrain.training.sequence import UpdatePlace, load_sequence, save_sequence, training_sequence
from flashtrain.writing import OutputError


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("place", UpdatePlace)
@pytest.mark.parametrize("optimizer", [SGD(), Adam(), Adam(beta1=0.25)])
def test_a_sequence_survives_the_file(network, place, optimizer, tmp_path):
    sequence = training_sequence(NETWORKS[network](), 32, optimizer, place, place is UpdatePlace.DIE)
    save_sequence(sequence, tmp_path / "a.json")
    loaded = load_sequence(tmp_path / "a.json")
    assert loaded == sequence
    save_sequence(loaded, tmp_path / "b.json")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


@pytest.fixture
def document(tmp_path):
    save_sequence(training_sequence(mlp(4), 8, Adam()), tmp_path / "good.json")
    return json.loads((tmp_path / "good.json").read_text(encoding="utf-8"))


def change(path, value):
    """A function that puts `value` at `path`; the ellipsis deletes."""

    def apply(document):
        *parents, last = path
        for key in parents:
            document = document[key]
        if value is ...:
            del document[last]
        else:
            document[last] = value

    return apply


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (change(["format"], "other"), 'format: expected "flashtrain-sequence", got "other"'),
        (change(["version"], 1), "version: expected 2, 3 or 4, got 1"),
        (change(["version"], True), "version: expected 2, 3 or 4, got true"),
        (change(["batch"], 0), "batch: expected an integer of at least 1, got 0"),
        (change(["batch"], 8.0), "batch: expected an integer of at least 1, got 8.0"),
        (change(["network"], ""), 'network: expected a name, got ""'),
        (change(["epilogue"], ...), "epilogue: missing"),
        (
            change(["extra"], 1),
            "extra: unknown; expected only format, version, network, optimizer, batch, tensors, prologue,"
            " iteration, epilogue, indices",
        ),
        (change(["tensors"], {}), "tensors: expected a list, got {}"),
        (change(["tensors", 1], 5), "tensors[1]: expected an object, got 5"),
        (change(["tensors", 0, "bytes"], 7), "tensors[0].bytes: expected 2048, got 7"),
        (
            change(["tensors", 0, "shape"], [8, -8, 8]),
            "tensors[0].shape[1]: expected an integer of at least 1, got -8",
        ),
        (
            change(["tensors", 0, "dtype"], "float64"),
            "tensors[0]: dtype 'float64' is not one of float32, float16, bfloat16, uint8, uint16, int32",
        ),
        (
            change(["tensors", 0, "stream"], "input"),
            'tensors[0].stream: expected one of inputs, activations, weights, state, trained, got "input"',
        ),
        (change(["tensors", 1, "name"], "input/images"), "tensors: the name input/images is not unique"),
        (change(["iteration", 0], []), "iteration[0]: expected an object, got []"),
        (
            change(["iteration", 0, "step"], "jump"),
            "iteration[0].step: expected one of append, read, reset, compute, initialise, update, repeat,"
            ' got "jump"',
        ),
        (change(["iteration", 0, "gives", 1], 3), "iteration[0].gives[1]: expected a string, got 3"),
        (change(["iteration", 1, "tensor"], "nothing"), "iteration[1]: no tensor is called nothing"),
        (
            change(["iteration", 1, "port"], "guest"),
            'iteration[1].port: expected one of host, core, got "guest"',
        ),
        (
            change(["iteration", 1, "port"], "core"),
            "iteration[1]: the core port may not append to or reset the stream inputs",
        ),
        (change(["iteration", 1, "port"], ...), "iteration[1].port: missing"),
        (
            change(["prologue", 2, "program"], "adamax"),
            "prologue[2].program: expected one of sgd, momentum, nesterov, linear, adam, adamw, adam_fast,"
            ' adamw_fast, sgdw, lion, adamw_schedule_free, got "adamax"',
        ),
        (
            change(["prologue", 2, "tensors"], ["weights/hidden"]),
            "iteration[11]: reads weights/output, which is not stored",
        ),
        (change(["iteration", 25, "constants"], ""), 'iteration[25].constants: expected a name, got ""'),
        (change(["iteration", 25, "gradients"], ...), "iteration[25].gradients: missing"),
        (
            change(["tensors", 0, "shape"], [10**18, 10**12]),
            "tensors[0]: shape (1000000000000000000, 1000000000000)"
            " has more than the 1099511627776 bytes of the largest tensor",
        ),
        (
            change(["tensors", 0, "shape"], [1] * 65),
            "tensors[0]: a shape has 65 dimensions; expected at most 64",
        ),
        (change(["iteration", 1, "size"], 1), "iteration[1].size: unknown; expected only step, tensor, port"),
    ],
)
def test_each_fault_is_named(document, fault, message, tmp_path):
    fault(document)
    path = tmp_path / "bad.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError) as error:
        load_sequence(path)
    assert str(error.value) == f"{path}: {message}"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{", "not JSON: Expecting property name"),
        (b"\xff\xfe", "not UTF-8 at byte 0; expected text"),
        (b"[]", r"document: expected an object, got \[\]"),
        (b'{"batch": 1, "batch": 2}', "not JSON: the key 'batch' comes twice"),
        (b"[" * 100_000, "not JSON: nested too deep; expected at most 64"),
        (b"1" * 10_000, "not JSON: an integer of 10000 digits; expected one of 64 bits"),
    ],
)
def test_what_is_not_a_document_is_refused(content, message, tmp_path):
    path = tmp_path / "bad.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message):
        load_sequence(path)


def test_files_that_cannot_be_opened_are_named(tmp_path):
    with pytest.raises(InputError, match=r"absent\.json: cannot be read: No such file"):
        load_sequence(tmp_path / "absent.json")
    with pytest.raises(OutputError, match=r"absent\.json: is a folder; expected a file to write"):
        (tmp_path / "absent.json").mkdir()
        save_sequence(training_sequence(mlp(4), 8, Adam()), tmp_path / "absent.json")
