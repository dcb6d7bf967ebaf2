"""Files of profiles and plans: round trip, stable bytes, one exact error for each fault."""

import json
from dataclasses import replace

import numpy as np
import pytest

from flashtrain.reading import InputError
from flashtrain.training.errors import OffloadError
from flashtrain.training.offload import (
    Plan,
    Profile,
    SavedTensor,
    SharedPart,
    Storage,
    load_plan,
    load_profile,
    save_plan,
    save_profile,
)
from flashtrain.training.offload.schedule import offload_plan
from flashtrain.writing import OutputError
from tests.training.offload.profiles import random_profile, random_storage
from tests.training.offload.test_event_model import chain


def small_plan() -> Plan:
    storage = Storage(
        "s", 300, 100.0, 200.0, 400.0, 0.0, 0.5, 50, ("window32",), (SharedPart("arrays", 1e3, 2e3),)
    )
    return offload_plan(chain(4), storage)


def put(document, path, value):
    """Put `value` at `path` of the document; the ellipsis deletes."""
    *parents, last = path
    for key in parents:
        document = document[key]
    if value is ...:
        del document[last]
    else:
        document[last] = value


def test_a_profile_survives_the_file(tmp_path, seed):
    rng = np.random.default_rng(seed)
    for _ in range(20):
        profile = replace(random_profile(rng, 5, 8), uncounted={"aten.gelu": 0.25, "own.op": rng.random()})
        save_profile(profile, tmp_path / "a.json")
        loaded = load_profile(tmp_path / "a.json")
        assert loaded == profile and loaded.fingerprint == profile.fingerprint
        save_profile(loaded, tmp_path / "b.json")
        assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_a_plan_survives_the_file(tmp_path, seed):
    rng = np.random.default_rng(seed)
    plans = [small_plan()]
    for _ in range(10):
        profile = random_profile(rng, 8, 8)
        storage = replace(random_storage(rng, profile), memory_bytes=profile.saved_bytes)
        plans.append(offload_plan(profile, storage, runs=10))
    assert any(plan.tensors for plan in plans)
    for plan in plans:
        save_plan(plan, tmp_path / "a.json")
        assert load_plan(tmp_path / "a.json") == plan


def test_keys_that_may_be_left_out(tmp_path):
    save_profile(chain(1), tmp_path / "p.json")
    document = json.loads((tmp_path / "p.json").read_text(encoding="utf-8"))
    for name in ("element_bytes", "relu", "ratios"):
        del document["tensors"][0][name]
    (tmp_path / "p.json").write_text(json.dumps(document), encoding="utf-8")
    assert load_profile(tmp_path / "p.json") == chain(1)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], "other", 'format: expected "flashtrain-offload-profile", got "other"'),
        (["version"], 2, "version: expected 1, got 2"),
        (["batch"], 0, "batch: expected an integer of at least 1, got 0"),
        (["resident_bytes"], -1, "resident_bytes: expected an integer of at least 0, got -1"),
        (
            ["operations", 1, "seconds"],
            -1.0,
            "operations[1].seconds: expected a number of at least 0, got -1.0",
        ),
        (
            ["operations", 0, "phase"],
            "up",
            'operations[0].phase: expected one of forward, backward, got "up"',
        ),
        (
            ["operations", 0, "phase"],
            "backward",
            "operation op1: forward after backward; expected all forward",
        ),
        (["operations"], [], "operations: expected at least one"),
        (["tensors", 0, "made"], 4, "tensor saved/0: made by operation 4; expected a forward one, 0 to 3"),
        (["tensors", 1, "made"], 3, "tensor saved/2: made before saved/1; expected the order of made"),
        (
            ["tensors", 2, "released"],
            1,
            "tensor saved/2: released by operation 1; expected a forward one, 2 to 3",
        ),
        (["tensors", 0, "uses"], [], "tensor saved/0: uses are []; expected ascending indices, at least one"),
        (
            ["tensors", 0, "uses"],
            [3],
            "tensor saved/0: used by operations [3]; expected backward ones, 4 to 7",
        ),
        (
            ["tensors", 0, "uses"],
            [8],
            "tensor saved/0: used by operations [8]; expected backward ones, 4 to 7",
        ),
        (["tensors", 0, "ratios"], {"a": 0}, "tensors[0].ratios.a: expected a number above 0, got 0"),
        (["tensors", 0, "relu"], 1, "tensors[0].relu: expected true or false, got 1"),
        (
            ["tensors", 0, "size"],
            1,
            "tensors[0].size: unknown; expected only name, bytes, made, uses, released",
        ),
        (["tensors", 0, "name"], "saved/1", "tensors: the name saved/1 is not unique"),
        (["model"], ..., "model: missing"),
    ],
)
def test_faults_of_a_profile(path, value, message, tmp_path):
    file = tmp_path / "p.json"
    save_profile(chain(4), file)
    document = json.loads(file.read_text(encoding="utf-8"))
    put(document, path, value)
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError) as error:
        load_profile(file)
    assert str(error.value).startswith(f"{file}: {message}")


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["format"], "flashtrain-offload-profile", 'format: expected "flashtrain-offload-plan"'),
        (["barrier"], None, "barrier: expected true or false, got null"),
        (["storage", "codecs"], "raw", 'storage.codecs: expected a list, got "raw"'),
        (["storage", "memory_bytes"], 0, "storage.memory_bytes: expected an integer of at least 1, got 0"),
        (["storage", "shared", 0, "name"], "", 'storage.shared[0].name: expected a name, got ""'),
        (["tensors", 0, "ratio"], 0, "tensors[0].ratio: expected a number above 0, got 0"),
        (
            ["tensors", 0, "prefetch_before"],
            9,
            "tensor saved/0: prefetch before operation 9; expected 0 to 7, which needs it",
        ),
        (["tensors", 0, "prefetch_with"], 3, "tensors[0].prefetch_with: expected a string, got 3"),
        (["seconds"], ..., "seconds: missing"),
    ],
)
def test_faults_of_a_plan(path, value, message, tmp_path):
    file = tmp_path / "p.json"
    plan = small_plan()
    assert plan.tensors[0].name == "saved/0"
    save_plan(plan, file)
    document = json.loads(file.read_text(encoding="utf-8"))
    put(document, path, value)
    file.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(InputError) as error:
        load_plan(file)
    assert str(error.value).startswith(f"{file}: {message}")


def test_the_order_of_writes_is_that_of_the_tensors():
    first, *_ = small_plan().tensors
    with pytest.raises(OffloadError, match=r"tensors: write_order is \[0, 0\]; expected ascending numbers"):
        replace(small_plan(), tensors=(first, replace(first, name="saved/1")))


def test_a_plan_for_another_model_is_refused_by_name():
    plan, other = small_plan(), replace(chain(5), model="other")
    with pytest.raises(OffloadError) as error:
        plan.check(other)
    assert str(error.value) == (
        f"the plan is for model chain with fingerprint {plan.fingerprint}; expected other with"
        f" {other.fingerprint}"
    )


def test_times_and_ratios_do_not_change_the_fingerprint():
    profile = chain(4)
    slower = tuple(replace(operation, seconds=9.0) for operation in profile.operations)
    ratios = {"saved/1": {"window32": 1.5}}
    assert replace(profile, operations=slower).with_ratios(ratios).fingerprint == profile.fingerprint
    tensors: tuple[SavedTensor, ...] = (replace(profile.tensors[0], bytes=101), *profile.tensors[1:])
    changed: Profile = replace(profile, tensors=tensors)
    assert changed.fingerprint != profile.fingerprint


def test_files_that_cannot_be_read_or_written(tmp_path):
    with pytest.raises(InputError, match="cannot be read: No such file"):
        load_profile(tmp_path / "missing.json")
    with pytest.raises(OutputError, match="is a folder; expected a file to write"):
        save_profile(chain(1), tmp_path)
    (tmp_path / "p.json").write_text("{", encoding="utf-8")
    with pytest.raises(InputError, match=r"p.json: not JSON"):
        load_plan(tmp_path / "p.json")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"memory_bytes": 0}, "s: memory_bytes is 0; expected at least 1"),
        ({"buffer_bytes": -1}, "s: buffer_bytes is -1; expected at least 0"),
        ({"write_bytes_per_second": 0.0}, "s: write_bytes_per_second is 0.0; expected more than 0"),
        ({"port_bytes_per_second": -1.0}, "s: port_bytes_per_second is -1.0; expected more than 0"),
        ({"read_seconds": -1.0}, "s: read_seconds is -1.0; expected 0 or more"),
        ({"shared": (SharedPart("bus", 1.0, 0.0),)}, "s: bus: read_bytes_per_second is 0.0; expected more"),
    ],
)
def test_faults_of_a_storage(change, message):
    with pytest.raises(OffloadError) as error:
        replace(Storage("s", 1, 1.0, 1.0), **change)
    assert str(error.value).startswith(message)


def test_a_codec_is_offered_and_measured():
    tensor = SavedTensor("saved/0", 100, 0, (1,), ratios={"window32": 2.0})
    storage = Storage("s", 1, 10.0, 20.0, 40.0, codecs=("window32", "round16"))
    assert storage.write_time(tensor, "window32") == 5.0
    assert storage.read_time(tensor, "window32") == 2.5  # the port, not 100 / 2 / 20
    assert storage.read_time(tensor, "raw") == 5.0
    with pytest.raises(OffloadError, match="no ratio of codec round16; expected a measured one"):
        storage.ratio(tensor, "round16")
    with pytest.raises(OffloadError, match="codec window16; s offers raw, window32, round16"):
        storage.ratio(tensor, "window16")
