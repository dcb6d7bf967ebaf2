"""All readers of input files, each with sound files of the project's own writers."""

import gzip
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from flashtrain.checkpoint.models.model_file import MODELS_FILE, load_models
from flashtrain.cli.bench_results import ResultsFile
from flashtrain.cli.links import LINKS
from flashtrain.cli.main import main
from flashtrain.cli.rtl_results import RtlResults
from flashtrain.cli.sweep_workloads import WORKLOADS
from flashtrain.io.job_file import load_jobs
from flashtrain.native.cache_record import Record
from flashtrain.nvme.target.settings import Settings
from flashtrain.perf.codec.array_file import arrays_of
from flashtrain.platform.workloads import WORKLOADS as ITERATIONS
from flashtrain.platform.workloads import workload_sequence
from flashtrain.reading import InputError, read_text
from flashtrain.reading.limits import MOST_SECRET_BYTES
from flashtrain.spec import PRESETS, config_text, load_config
from flashtrain.ssd import SsdConfig
from flashtrain.ssd.drive_file import drive_text, load_drive
from flashtrain.ssd.mqsim import import_drive, import_workload
from flashtrain.ssd.sheet import FOLDER as SHEETS
from flashtrain.ssd.sheet import load_sheet
from flashtrain.sweep.file import load_sweep
from flashtrain.sweep.journal import Journal
from flashtrain.sweep.point import Outcome
from flashtrain.traces import WRITABLE, Operation, TraceRecord, load_trace, save_trace
from flashtrain.training.offload import (
    Storage,
    load_plan,
    load_profile,
    offload_plan,
    save_plan,
    save_profile,
)
from flashtrain.training.offload.network_file import FOLDER, load_network
from flashtrain.training.offload.samples import SAMPLES
from flashtrain.training.own import load_data
from flashtrain.training.recipes import RECIPES
from flashtrain.training.sequence import load_sequence, save_sequence, training_sequence

from .mutants import (
    Mutator,
    arrays_changed,
    bytes_changed,
    compressed_changed,
    leaves_changed,
    values_changed,
    words_changed,
)
from .xml_files import DEVICE, WORKLOAD

_EXAMPLES = Path(__file__).parents[2] / "examples"
_TEXT = (bytes_changed, words_changed, words_changed)
_JSON = (bytes_changed, values_changed, values_changed, values_changed)
_XML = (bytes_changed, leaves_changed, leaves_changed)
_ARRAYS = (bytes_changed, arrays_changed, arrays_changed, compressed_changed)


@dataclass(frozen=True)
class Reader:
    """`read` takes a file, named with `suffix`; `seeds` writes sound ones into a folder."""

    name: str
    suffix: str
    read: Callable[[Path], object]
    seeds: Callable[[Path], None]
    mutators: tuple[Mutator, ...]


def _command(*words: str) -> Callable[[Path], object]:
    """The command with the file behind it, in this process; it may be good, or refuse the file."""

    def read(path: Path) -> None:
        if main([*words, str(path)]):
            raise InputError(path, "refused")

    return read


def _configurations(folder: Path) -> None:
    for name in ("tiny", "small_codec", "behemoth"):
        (folder / name).write_text(config_text(PRESETS[name]), encoding="utf-8")
    (folder / "short").write_text(
        'base = "small"\nwrite_sets = 5\n[timing]\ntr = { ns = 3000, cycles = 2 }\n', encoding="utf-8"
    )


def _examples(*names: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        for name in names:
            (folder / Path(name).name).write_bytes((_EXAMPLES / name).read_bytes())

    return write


def _xml(text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / "document").write_text(text, encoding="utf-8") and None


_TABLES = {
    "msr": "128166372003061629,hm,1,Read,383496192,32768,413",
    "alibaba": "3,R,126703644672,4096,1577808000000046",
    "tencent": "1538323200,12910952,128,0,1063",
    "spc": "0,20941264,8192,W,0.551706",
}
"""A line of each format that is only read."""


def _traces(folder: Path) -> None:
    records = [TraceRecord(1000 * k, 8 * k, 8, Operation.WRITE) for k in range(6)]
    records += [TraceRecord(9000, 0, 8, Operation.READ), TraceRecord(9500, 0, 0, Operation.FLUSH)]
    for name in WRITABLE:
        save_trace(folder / name, records, name)
    (folder / "msr").write_text("128166372003061629,hm,0,Read,4096,8192,10\n" * 3, encoding="utf-8")
    (folder / "alibaba").write_text("419,R,4096,8192,1577808000000000\n" * 3, encoding="utf-8")
    (folder / "tencent").write_text("1538323200,2048,16,0,1063\n" * 3, encoding="utf-8")
    (folder / "spc").write_text("0,2048,8192,R,0.5\n" * 3, encoding="utf-8")
    (folder / "packed").write_bytes(gzip.compress(b"500000 3 2048 16 1\n" * 3))


def _sequences(folder: Path) -> None:
    recipe = RECIPES["mlp"]
    save_sequence(training_sequence(recipe.network, 8, recipe.optimizer), folder / "mlp")
    save_sequence(workload_sequence(ITERATIONS["gpt 1x1"]), folder / "gpt")


def _profile():
    return next(iter(SAMPLES.values())).profile(2)


def _plan(folder: Path) -> None:
    storage = Storage("s", 1 << 40, 1e9, 2e9, codecs=("window32",))
    save_plan(offload_plan(_profile(), storage), folder / "plan")


def _networks(folder: Path) -> None:
    document = json.loads((FOLDER / "resnet152.json").read_text(encoding="utf-8"))
    document["operations"] = document["operations"][:6]
    document["tensors"] = []
    (folder / "net").write_text(json.dumps(document), encoding="utf-8")


def _models(folder: Path) -> None:
    (folder / "models").write_bytes(MODELS_FILE.read_bytes())


def _data(folder: Path) -> None:
    network = RECIPES["mlp"].network
    generator = np.random.default_rng(1)
    arrays = {}
    for part, count in (("train", 6), ("test", 3)):
        arrays[f"{part}_inputs"] = generator.random((count, *network.input_spec(1).shape[1:]), np.float32)
        arrays[f"{part}_targets"] = generator.integers(0, network.outputs, count)
    for name, save in (("plain", np.savez), ("compressed", np.savez_compressed)):
        with (folder / name).open("wb") as file:
            save(file, **arrays)


def _arrays(folder: Path) -> None:
    _data(folder)
    with (folder / "one").open("wb") as file:
        np.save(file, np.ones((3, 4), np.float32))


def _results(folder: Path) -> None:
    result = {"name": "append", "configuration": "tiny", "link": "rtl", "value": 1.5, "cycles": 100}
    (folder / "results").write_text(
        json.dumps([result, {**result, "preset": "small"}], indent=2), encoding="utf-8"
    )


def _rtl_results(folder: Path) -> None:
    run = {"run": "a", "sources": "b", "values": {}, "cycles": 5, "seconds": 0.5}
    (folder / "results").write_text(json.dumps({"0123": run, "4567": run}, indent=1), encoding="utf-8")


def _journal(folder: Path) -> None:
    with Journal(folder / "journal") as journal:
        for number in range(3):
            journal.add(Outcome(f"{number:032x}", "code", 0.5, {"value": 0.1, "note": "µ", "met": None}))


def _read_journal(path: Path) -> None:
    with Journal(path):
        pass


def _record(folder: Path) -> None:
    (folder / "lib.so").write_bytes(b"library")
    record = Record.of(folder, "a library", 1.5, 100)
    (folder / "lib.so").unlink()
    record.save(folder / "record")


def _secret(folder: Path) -> None:
    (folder / "secret").write_text(
        "DHHC-1:00:ia6zGodOr4SEG0Zzaw398rpY0wqipUWj4jWjUh4HWUz6aQ2n:\n", encoding="utf-8"
    )


def _drive(folder: Path) -> None:
    (folder / "drive").write_text(drive_text(SsdConfig.of(PRESETS["behemoth"])), encoding="utf-8")


def _sheets(folder: Path) -> None:
    for name in ("micron-9550", "samsung-pm9a3"):
        (folder / name).write_bytes((SHEETS / f"{name}.toml").read_bytes())


READERS = (
    Reader("configuration", ".toml", load_config, _configurations, _TEXT),
    Reader("info --config", ".toml", _command("info", "--write", "--config"), _configurations, _TEXT),
    Reader(
        "sweep", ".toml", lambda path: load_sweep(path, WORKLOADS, tuple(LINKS)),
        _examples("dies_on_model.toml", "dies_per_channel.toml", "dies_on_rtl.toml"), _TEXT,
    ),
    Reader("jobs", ".fio", lambda path: load_jobs(path, {}), _examples("io/mixed.fio"), _TEXT),
    Reader("trace", ".log", load_trace, _traces, _TEXT),
    Reader("trace show", ".log", _command("trace", "show"), _traces, _TEXT),
    Reader("drive", ".toml", load_drive, _drive, _TEXT),
    Reader("data sheet", ".toml", load_sheet, _sheets, _TEXT),
    Reader("mqsim drive", ".xml", import_drive, _xml(DEVICE), _XML),
    Reader("mqsim workload", ".xml", import_workload, _xml(WORKLOAD), _XML),
    Reader("sequence", ".json", load_sequence, _sequences, _JSON),
    Reader("sequence show", ".json", _command("sequence", "show"), _sequences, _JSON),
    Reader("profile", ".json", load_profile, lambda folder: save_profile(_profile(), folder / "p"), _JSON),
    Reader(
        "offload plan", ".json", _command("offload", "plan"),
        lambda folder: save_profile(_profile(), folder / "p"), _JSON,
    ),
    Reader("plan", ".json", load_plan, _plan, _JSON),
    Reader("network", ".json", lambda path: load_network(path).profile(2), _networks, _JSON),
    Reader("models", ".json", load_models, _models, _JSON),
    Reader("data", ".npz", lambda path: load_data(path, RECIPES["mlp"].network), _data, _ARRAYS),
    Reader("arrays", ".npz", arrays_of, _arrays, _ARRAYS),
    Reader("bench --output", ".json", ResultsFile, _results, _JSON),
    Reader("bench --rtl-results", ".json", RtlResults, _rtl_results, _JSON),
    Reader("journal", ".journal", _read_journal, _journal, (bytes_changed, values_changed)),
    Reader("cache record", ".json", Record.load, _record, _JSON),
    Reader(
        "secret", ".key",
        lambda path: Settings(secret=read_text(path, MOST_SECRET_BYTES).strip()).key_of("nqn.a:b"), _secret,
        (bytes_changed,),
    ),
)  # fmt: skip


def mutant(seed: int, number: int, seeds: dict[str, list[bytes]]) -> tuple[Reader, bytes]:
    """Mutated file `number` of a seed, and its reader."""
    chance = random.Random(f"{seed} {number}")
    reader = READERS[number % len(READERS)]
    data = chance.choice(seeds[reader.name])
    for _ in range(chance.choice((1, 1, 1, 2))):
        mutate = chance.choice(reader.mutators)
        try:
            data = mutate(chance, data)
        except Exception:  # what an earlier mutation has left is no document any more
            data = bytes_changed(chance, data)
    return reader, data
