"""Libraries that know fsspec write to a stream by URL, and read what they have written."""

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.fs as pafs
import pyarrow.parquet as pq
import torch

from tests.objects.helpers import url


def test_numpy(fs, target):
    weights = np.random.default_rng(1).normal(size=(700, 300)).astype(np.float32)
    with fsspec.open(url(target, "objects/w.npy"), "wb") as file:
        np.save(file, weights)
    with fsspec.open(url(target, "objects/w.npy")) as file:
        assert (np.load(file) == weights).all()
    with fs.open("objects/w.npz", "wb") as file:
        np.savez(file, weights=weights, step=7)
    with fs.open("objects/w.npz") as file, np.load(file) as loaded:
        assert (loaded["weights"] == weights).all() and loaded["step"] == 7


def test_pyarrow(fs, target):
    table = pa.table({"step": range(5000), "loss": np.linspace(4, 1, 5000), "run": ["a", "b"] * 2500})
    pq.write_table(table, "objects/losses.parquet", filesystem=fs)
    assert pq.read_table("objects/losses.parquet", filesystem=fs).equals(table)
    assert pq.read_table("fsspec+" + url(target, "objects/losses.parquet"), columns=["loss"]).num_columns == 1
    ds.write_dataset(table, "objects/runs", format="parquet", partitioning=["run"], filesystem=fs)
    assert len(fs.find("objects/runs")) == 2
    found = ds.dataset("objects/runs", filesystem=fs, partitioning=["run"]).to_table()
    assert found.sort_by("step").select(table.column_names).equals(table)
    arrow = pafs.PyFileSystem(pafs.FSSpecHandler(fs))
    arrow.move("objects/runs", "objects/moved")
    assert len(arrow.get_file_info(pafs.FileSelector("objects/moved", recursive=True))) == 4
    arrow.delete_dir("objects/moved")
    assert fs.find("objects") == ["objects/losses.parquet"]


def test_torch(target):
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.Linear(64, 8))
    state = {"model": model.state_dict(), "step": 3}
    with fsspec.open(url(target, "objects/run1/step3.pt"), "wb") as file:
        torch.save(state, file)
    with fsspec.open(url(target, "objects/run1/step3.pt")) as file:
        loaded = torch.load(file, weights_only=True)
    assert loaded["step"] == 3
    assert all(torch.equal(loaded["model"][name], one) for name, one in state["model"].items())
