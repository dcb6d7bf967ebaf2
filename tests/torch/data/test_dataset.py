"""`FlashDataset`: samples come back as they were, from their own blocks, through a `DataLoader`."""

import pickle
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, Dataset, TensorDataset

from flashtrain.host import (
    ForeignProcess,
    FunctionalLink,
    JournalMissing,
    StaleHandle,
    StreamFull,
    open_device,
)
from flashtrain.spec import NodeTable, Port, preset
from flashtrain.spec.streams import UPDATE_NODE, Codec
from flashtrain.torch import FlashDataset, ResumableSampler
from flashtrain.torch.data import stored_bytes
from flashtrain.training.errors import DataError
from tests.torch.compare import bits

BARE = NodeTable("bare", (UPDATE_NODE.named("inputs"),))


class Pair(NamedTuple):
    image: torch.Tensor
    label: int


class Endless(Dataset):
    """A map-style data set that has a length, and does not end an iteration."""

    def __init__(self):
        self.calls = []

    def __getitem__(self, index):
        self.calls.append(index)
        return torch.full((3,), index), index

    def __len__(self):
        return 5


class Counted(Dataset):
    """Rows, and the numbers of those that were asked for."""

    def __init__(self, rows):
        self.rows, self.calls = rows, []

    def __getitem__(self, number):
        self.calls.append(number)
        return self.rows[number]

    def __len__(self):
        return len(self.rows)


def equal(one, other):
    """Of one type, and equal in every bit."""
    if isinstance(other, np.ndarray | np.generic):
        other = torch.from_numpy(np.array(other))
    assert type(one) is type(other)
    if isinstance(one, torch.Tensor):
        assert (one.shape, one.dtype) == (other.shape, other.dtype) and bits(one) == bits(other)
    elif isinstance(one, dict):
        assert list(one) == list(other)
        for key in one:
            equal(one[key], other[key])
    elif isinstance(one, tuple | list):
        assert len(one) == len(other)
        for a, b in zip(one, other, strict=True):
            equal(a, b)
    else:
        assert one == other


ROWS = torch.randn(40, 3, 7)
SAMPLES = {
    "tensor": ROWS,
    "array": np.arange(60, dtype=np.int16).reshape(20, 3)[:, ::-1],
    "scalars": torch.arange(300) % 7,
    "tuple": (ROWS, torch.arange(40)),
    "dictionary": {"x": ROWS.bfloat16(), "y": np.arange(40) > 20},
    "TensorDataset": TensorDataset(ROWS, torch.arange(40)),
    "list": [(torch.randn(5), number, number / 3, number % 2 == 0) for number in range(30)],
    "named tuples": [Pair(torch.randint(256, (3, 5, 5), dtype=torch.uint8), n - 3) for n in range(30)],
    "nests": [{"a": [torch.randn(2, dtype=torch.complex64)], "b": (np.float32(n), {})} for n in range(9)],
    "large": torch.randn(3, 50, 41),  # each of many blocks
    "pieces": torch.randint(256, (300, 1300), dtype=torch.uint8),  # over several appends
}


@pytest.fixture
def small():
    with open_device("small", node=UPDATE_NODE) as opened:
        yield opened


@pytest.mark.parametrize("kind", SAMPLES)
def test_samples_come_back_as_they_were(small, seed, kind):
    source = SAMPLES[kind]
    data = FlashDataset(source, small)
    if isinstance(source, tuple):
        expected = list(zip(*source, strict=True))
    elif isinstance(source, dict):
        expected = [dict(zip(source, row, strict=True)) for row in zip(*source.values(), strict=True)]
    else:
        expected = [source[index] for index in range(len(source))]
    assert len(data) == len(expected)
    assert data.nbytes == len(data) * data.sample_bytes
    for index in (0, 1, len(data) // 2, -1):
        equal(data[index], expected[index])
    indices = np.random.default_rng(seed).integers(len(data), size=17)
    for sample, index in zip(data.__getitems__(indices), indices, strict=True):
        equal(sample, expected[index])


def test_samples_lie_in_several_zones(device):
    source = torch.randint(256, (1500, 13), dtype=torch.uint8)
    data = FlashDataset(source, device)
    assert data.nbytes > device.stream("inputs").zone_capacity * device.stream("inputs").block_bytes
    for sample, row in zip(data.__getitems__(range(1500)), source, strict=True):
        equal(sample, row)
    equal(data[1400], source[1400])  # in the middle of the second zone


def test_batches_larger_than_the_tensor_buffer():
    source = torch.randint(256, (300, 1300), dtype=torch.uint8)
    with open_device("small", node=UPDATE_NODE, memory_bytes=1 << 16) as device:
        data = FlashDataset(source, device)
        for sample, row in zip(data.__getitems__(range(0, 300, 7)), source[::7], strict=True):
            equal(sample, row)
        assert bits(torch.stack(data.__getitems__(range(300)))) == bits(source)


def test_samples_have_memory_of_their_own(device):
    data = FlashDataset(ROWS, device)
    one, other, again = data.__getitems__([3, 4, 3])
    one.zero_()
    equal(other, ROWS[4])
    equal(again, ROWS[3])


def test_iterables_are_iterated_once_and_lengths_are_believed(device):
    source = Endless()
    assert len(FlashDataset(source, device)) == 5
    assert source.calls == [0, 1, 2, 3, 4]
    generated = FlashDataset((torch.tensor([n]) for n in range(7)), device)
    assert [int(generated[n]) for n in range(7)] == list(range(7))


def test_a_sample_reads_only_its_blocks(small):
    """Blocks that samples share are read once."""
    device = small
    block = device.config.geometry.page_bytes
    data = FlashDataset(torch.arange(64 * block // 8).reshape(-1, block // 32), device)  # four to a block

    def read(indices):
        before = device.counters()["PAGES_READ"]
        data.__getitems__(indices)
        return device.counters()["PAGES_READ"] - before

    assert data.sample_bytes * 4 == block
    assert read([5]) == 1
    assert read([5, 6, 7, 5]) == 1
    assert read([4, 9, 200, 200]) == 3
    assert read(range(256)) == 64
    across = FlashDataset(torch.zeros(10, block // 4 + 1), device)  # four bytes more than a block
    before = device.counters()["PAGES_READ"]
    across[0]
    assert device.counters()["PAGES_READ"] - before == 2


@pytest.mark.parametrize("shuffle", [False, True])
def test_data_loader(device, shuffle):
    source = [(torch.randn(4), number) for number in range(23)]
    loader = DataLoader(FlashDataset(source, device), batch_size=5, shuffle=shuffle)
    assert len(loader) == 5
    labels = []
    for x, y in loader:
        assert y.dtype == torch.int64
        for row, label in zip(x, y, strict=True):
            equal(row.clone(), source[int(label)][0])
        labels += y.tolist()
    assert sorted(labels) == list(range(23)) and (labels != sorted(labels)) == shuffle


def test_run_resumes_in_the_middle_of_an_epoch(device):
    """The same batches, in the same order, as without the interruption."""
    data = FlashDataset(torch.arange(23), device)

    def batches(sampler, count):
        loader, found = DataLoader(data, batch_size=4, sampler=sampler), []
        while len(found) < count:
            for batch in sampler.batches(loader):
                found.append(batch.tolist())
                if len(found) == count:
                    break
        return found

    whole = batches(ResumableSampler(data, seed=3), 20)
    for before in (1, 5, 6, 7, 13):
        sampler = ResumableSampler(data, seed=3)
        first = batches(sampler, before)
        resumed = ResumableSampler(data)
        resumed.load_state_dict(pickle.loads(pickle.dumps(sampler.state_dict())))
        assert first + batches(resumed, 20 - before) == whole


def test_each_rank_has_its_part():
    """Two devices: each epoch has all samples once, and each is on one device alone, as its blocks are."""
    source = (torch.randn(23, 40), torch.arange(23))
    with open_device("tiny", node=UPDATE_NODE) as one, open_device("tiny", node=UPDATE_NODE) as other:
        parts = [FlashDataset(source, device, rank=n, ranks=2) for n, device in enumerate((one, other))]
        assert [part.nbytes // part.sample_bytes for part in parts] == [12, 11]
        assert [len(part) for part in parts] == [23, 23]
        samplers = [ResumableSampler(part, seed=3) for part in parts]
        epochs = []
        for _ in range(2):
            loaders = [DataLoader(p, 3, sampler=s) for p, s in zip(parts, samplers, strict=True)]
            both = [s.batches(loader) for s, loader in zip(samplers, loaders, strict=True)]
            found = []
            for batches in zip(*both, strict=True):
                for rank, (x, y) in enumerate(batches):
                    assert (y % 2 == rank).all() and bits(x) == bits(source[0][y])
                    found += y.tolist()
            epochs.append(found)
        assert [len(set(found)) for found in epochs] == [22, 22] and epochs[0] != epochs[1]
        assert samplers[0].state_dict() == samplers[1].state_dict()
        with pytest.raises(DataError, match="sample 22 is that of rank 0 of 2; expected one of rank 1"):
            parts[1][-1]
        with pytest.raises(
            DataError, match="rank is 0 of 1; expected 1 of 2, whose samples the data set has"
        ):
            ResumableSampler(parts[1], rank=0, ranks=1)
        with pytest.raises(DataError, match=r"shards is 3; expected .* a multiple of the 2 ranks"):
            ResumableSampler(parts[1], shards=3)


def test_samples_of_other_ranks_are_not_made(device):
    source = Endless()
    assert len(FlashDataset(source, device, rank=1, ranks=3)) == 5
    assert source.calls == [1, 4]
    data = FlashDataset((torch.tensor([n]) for n in range(7)), device, rank=2, ranks=3)
    assert len(data) == 7 and [int(data[n]) for n in (2, 5)] == [2, 5]
    with pytest.raises(DataError, match=r"sample 4 is int64\[2\]; expected int64\[1\], as before"):
        FlashDataset([torch.zeros(1 + n // 3, dtype=torch.int64) for n in range(7)], device, rank=1, ranks=3)
    with pytest.raises(DataError, match="the source has 2 samples; expected one for rank 2 of 3"):
        FlashDataset(torch.arange(2), device, rank=2, ranks=3)
    with pytest.raises(DataError, match="rank is 3 of 3; expected an integer from 0 to ranks - 1"):
        FlashDataset(torch.arange(2), device, rank=3, ranks=3)


def test_a_named_data_set_is_found_again(tmp_path, seed):
    """By another process, of which nothing is left but the image: no sample is made, and none appended."""
    rows = torch.randint(256, (1500, 26), dtype=torch.uint8)  # of several zones

    for number in range(3):
        source = Counted(rows)
        with open_device("tiny", node=UPDATE_NODE, image=tmp_path / "flash.img") as device:
            data = FlashDataset(source, device, rank=1, ranks=2, name="rows")
            assert source.calls == (list(range(1, 1500, 2)) if number == 0 else [1])
            assert (device.counters()["PAGES_APPENDED"] > 38) == (number == 0)
            assert len(data) == 1500 and data.nbytes == 750 * 26 and len(data._stored.extents) > 1
            indices = [1, *(1 + 2 * np.random.default_rng(seed).integers(750, size=40)), -1]
            assert bits(torch.stack(data.__getitems__(indices))) == bits(rows[indices])


def test_a_named_data_set_that_was_dropped_or_cut_is_stored_anew(device):
    def cut():
        yield from ROWS[:30]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        FlashDataset(cut(), device, name="rows")
    for rows in (ROWS, ROWS + 1):
        data = FlashDataset(rows, device, name="rows")
        equal(data[39], rows[39])
        again = FlashDataset((row for row in ROWS), device, name="rows")  # whose number is not known
        equal(again[39], rows[39])
        data.drop()
        assert len(data) == 0 and device.stream("inputs", Port.HOST).note == b""


def test_a_named_data_set_has_its_stream_for_itself(device):
    stored = (
        r"stream 'inputs' has the samples of rank 0 of 1 of 'rows', float32\[3, 7\] x 40; expected those of "
    )
    FlashDataset(ROWS, device, name="rows")
    wanted: list[tuple[Any, dict[str, Any], str]] = [
        (ROWS, {"name": "lines"}, "rank 0 of 1 of 'lines', float32"),
        (ROWS, {"name": "rows", "rank": 1, "ranks": 2}, "rank 1 of 2 of 'rows'"),
        (ROWS[:39], {"name": "rows"}, r".*float32\[3, 7\] x 39, or an empty stream"),
        ((ROWS, ROWS), {"name": "rows"}, r".*tuple\(0: float32\[3, 7\], 1: float32\[3, 7\]\) x 40"),
    ]
    for source, options, message in wanted:
        with pytest.raises(DataError, match=stored + message):
            FlashDataset(source, device, **options)
    stream = device.stream("inputs", Port.HOST)
    stream.annotate(b"mine")
    other_use = "stream 'inputs' has data of another use; expected an empty stream for the data set 'rows'"
    with pytest.raises(DataError, match=other_use):
        FlashDataset(ROWS, device, name="rows")
    stream.reset()
    stream.append(np.arange(3))
    with pytest.raises(DataError, match=other_use):
        FlashDataset(ROWS, device, name="rows")
    names: tuple[Any, ...] = ("", 3)
    for name in names:
        with pytest.raises(DataError, match="expected a text, or None"):
            FlashDataset(ROWS, device, name=name)
    with open_device("tiny", node=BARE) as bare, pytest.raises(JournalMissing, match="a note for stream"):
        FlashDataset(ROWS, bare, name="rows")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([], "the source has no samples"),
        (torch.tensor(3.0), "the source is a tensor without dimensions"),
        (3, "the source is a int; expected a tensor"),
        ((torch.zeros(3), torch.zeros(4)), r"tensors of the source have \[3, 4\] rows"),
        ((torch.zeros(3), [1, 2, 3]), "the source has a list; expected tensors"),
        (["a"], "a sample is a str; expected a tensor"),
        ([(1, {"x": object()})], r"a sample\[1\]\['x'\] is a object"),
        ([np.array(["a"])], "a sample is an array of <U1, which PyTorch does not have"),
        ([torch.zeros(3).to_sparse()], "a tensor of a sample has the layout sparse_coo"),
        ([torch.zeros(0)], r"a sample is float32\[0\], of no bytes"),
        (
            [torch.zeros(3), torch.zeros(4)],
            r"sample 1 is float32\[4\]; expected float32\[3\], as bef",
        ),
        ([torch.zeros(3), torch.zeros(3).double()], r"sample 1 is float64\[3\]; expected float32"),
        ([(1, 2), (1, 2.0)], r"sample 1\[1\] is float; expected int, as before"),
        ([(1, 2), (1, 2, 3)], "sample 1 is a tuple of 0, 1, 2; expected a tuple of 0, 1"),
        ([{"a": 1}, {"b": 1}], "sample 1 is a dict of 'b'; expected a dict of 'a'"),
        ([[1], (1,)], "sample 1 is a tuple of 0; expected a list of 0"),
        ([1, 1 << 63], "sample 1 is 9223372036854775808; expected an integer of 64 bits"),
    ],
)
def test_sources_that_will_not_do(device, source, message):
    with pytest.raises(DataError, match=message):
        FlashDataset(source, device)


def test_a_failed_data_set_leaves_nothing(device, monkeypatch):
    """Without room, and with a bad sample at the end: another one of half the stream fits each time."""
    monkeypatch.setattr(stored_bytes, "LEAST_BLOCKS", 4)  # so that some are appended before
    stream = device.stream("inputs", Port.HOST)
    room = stream.zones * stream.zone_capacity * stream.block_bytes
    for _ in range(3):
        with pytest.raises(StreamFull):
            FlashDataset(torch.zeros(room // 1000 + 1, 1000, dtype=torch.uint8), device)
        half = torch.zeros(room // 2000, 1000, dtype=torch.uint8)
        with pytest.raises(DataError, match="as before"):
            FlashDataset([*half, torch.zeros(1)], device)
        data = FlashDataset(half, device)
        data.drop()
        assert len(data) == 0
        with pytest.raises(IndexError, match="sample 0 of a data set of 0"):
            data[0]


def test_numbers_of_samples(device):
    data = FlashDataset(torch.arange(3), device)
    assert int(data[torch.tensor(-3)]) == 0
    for index in (3, -4):
        with pytest.raises(IndexError, match=f"sample {index} of a data set of 3"):
            data[index]


@pytest.mark.parametrize("context", ["fork", "spawn"])
def test_worker_processes_are_refused(device, context):
    data = FlashDataset(torch.arange(8), device)
    loader = DataLoader(data, num_workers=1, multiprocessing_context=context)
    with pytest.raises(ForeignProcess, match=r"the process that opened it.*DataLoader\(num_workers=0\)"):
        next(iter(loader))


def test_stream_was_reset(device):
    data = FlashDataset(torch.arange(8), device)
    device.stream("inputs", Port.HOST).reset()
    with pytest.raises(StaleHandle):
        data[0]


def test_stream_with_a_codec():
    node = UPDATE_NODE.with_codecs(inputs=Codec.WINDOW32)
    with open_device("tiny_codec", node=node) as device:
        with pytest.raises(DataError, match="stream 'inputs' has the codec WINDOW32; expected RAW"):
            FlashDataset(torch.arange(8), device)


def test_samples_outlive_a_loss_of_power():
    with FunctionalLink(preset("tiny"), 1 << 20) as link, open_device(link=link, node=UPDATE_NODE) as device:
        data = FlashDataset(ROWS, device)
        link.power_cycle()
        device.recover()
        equal(data[39], ROWS[39])


def test_values_that_a_storage_does_not_hold_as_they_are(device):
    """Lazy negatives and conjugates, and the zeros of forward-mode differentiation."""
    samples = [torch._neg_view(torch.ones(3)), torch._efficientzerotensor((3,)), torch.arange(3.0)]
    data = FlashDataset(samples, device)
    assert [data[i].tolist() for i in range(3)] == [[-1, -1, -1], [0, 0, 0], [0, 1, 2]]
