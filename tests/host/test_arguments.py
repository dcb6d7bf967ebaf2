"""Absurd arguments of the public methods: each is refused by an error that names the argument."""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from flashtrain.checkpoint import AppendedCheckpoints
from flashtrain.host import ArrayError, Catalog, CatalogFull, Extent, FunctionalLink, StreamFull, open_device
from flashtrain.model.link import ModelLink
from flashtrain.spec import FlashtrainError, Port, ZoneState
from flashtrain.spec.streams import CATALOG

TEXTS = ("x", b"")
LISTS: tuple[Any, ...] = ([], (), {}, np.zeros(0), np.zeros(3, object))
FRACTIONS = (1.5, math.nan, math.inf, -math.inf)
NEGATIVE = (-1, np.int64(-5))
HUGE = (1 << 70,)
OBJECTS = (None, object())
ALL = (*TEXTS, *LISTS, *FRACTIONS, *NEGATIVE, *HUGE, *OBJECTS, True, 1 << 40)
NO_INTEGER = (*TEXTS, *LISTS, *FRACTIONS, *NEGATIVE, *HUGE, *OBJECTS, True)
NO_PORT = (*TEXTS, *LISTS, *FRACTIONS, *NEGATIVE, *HUGE, *OBJECTS, True)
NO_LIST = (*TEXTS, np.zeros(3), *FRACTIONS, *NEGATIVE, *HUGE, *OBJECTS, True)
NO_TEXT = (b"", *LISTS, *FRACTIONS, *NEGATIVE, *HUGE, *OBJECTS, True)
NO_FLAG = (*TEXTS, *LISTS, *FRACTIONS, *NEGATIVE, *HUGE, object(), 1)
NO_ARRAY = (*TEXTS, [], (), {}, *FRACTIONS, -1, *HUGE, *OBJECTS, True)


def _on_zone(name: str, opened: Any, zone: Any) -> None:
    getattr(opened.stream, name)(zone)


class Opened:
    """What the calls use."""

    def __init__(self, device: Any) -> None:
        self.device = device
        self.stream = device.stream(CATALOG, Port.HOST)
        self.catalog = device.catalog
        self.store = AppendedCheckpoints(device, "trained")


Call = Callable[[Any, Any], object]

OPENINGS: dict[str, tuple[Call, Sequence[Any]]] = {
    "memory_bytes": (lambda o, v: open_device("tiny", memory_bytes=v), ALL),
    "queue_entries": (lambda o, v: open_device("tiny", queue_entries=v), ALL),
    "preset": (lambda o, v: open_device(v), [v for v in ALL if v is not None]),
    "node": (lambda o, v: open_device("tiny", node=v), [v for v in ALL if v is not None]),
    "link": (lambda o, v: open_device("tiny", link=v), ALL),
    "factory": (lambda o, v: open_device("tiny", factory=v), NO_FLAG),
    "recover": (lambda o, v: open_device("tiny", recover=v), (*NO_FLAG, None)),
    "image": (lambda o, v: open_device("tiny", image=v), [v for v in NO_TEXT if v is not None]),
}

CALLS: dict[str, tuple[str, Call, Sequence[Any]]] = {
    "enable": ("factory", lambda o, v: o.device.enable(v), (*NO_FLAG, None)),
    "wait": (r"pendings\[0\]", lambda o, v: o.device.wait([v]), ALL),
    "wait for what is no list": (
        "pendings",
        lambda o, v: o.device.wait(v),
        [v for v in NO_LIST if v is not None],
    ),
    "wait_any": ("pendings", lambda o, v: o.device.wait_any(v), NO_LIST),
    "wait_any until": (
        "until",
        lambda o, v: o.device.wait_any([], v),
        [v for v in NO_INTEGER if v is not None],
    ),
    "wait_until": ("condition", lambda o, v: o.device.wait_until(v), ALL),
    "stream": ("name|stream", lambda o, v: o.device.stream(v), (*NO_TEXT, "x")),
    "stream, port": ("port", lambda o, v: o.device.stream(CATALOG, v), NO_PORT),
    "state_stream, port": ("port", lambda o, v: o.device.state_stream(CATALOG, v), NO_PORT),
    "port": ("port", lambda o, v: o.device.port(v), NO_PORT),
    "commands": ("port", lambda o, v: o.device.commands(v), NO_PORT),
    "buffer": (
        "shape|integer",
        lambda o, v: o.device.buffer(v, "u1"),
        ("x", b"", [], {}, *FRACTIONS, *NEGATIVE, 0, None, object(), True),
    ),
    "buffer, dtype": ("dtype", lambda o, v: o.device.buffer(4, v), ("x", *FRACTIONS, -1, *OBJECTS, True, {})),
    "address_of": ("array", lambda o, v: o.device.address_of(v), (*NO_ARRAY, np.zeros(3))),
    "submit_raw": (
        "entry",
        lambda o, v: o.device.submit_raw(Port.HOST, v),
        ("x", b"", [], {}, *FRACTIONS, -1, 1 << 600, None, bytes(63)),
    ),
    "submit_raw, port": ("port", lambda o, v: o.device.submit_raw(v, bytes(64)), NO_PORT),
    "log_commands": ("log", lambda o, v: o.device.log_commands(v), [v for v in ALL if v is not None]),
    "pass_time": (
        "seconds",
        lambda o, v: o.device.link.pass_time(v),
        (*TEXTS, *LISTS, math.nan, math.inf, *NEGATIVE, -5, 1 << 40, *OBJECTS, True),
    ),
    "run": ("cycles", lambda o, v: o.device.link.run(v), NO_INTEGER),
    "wait of a Link": (
        "max_cycles",
        lambda o, v: o.device.link.wait(v),
        [v for v in NO_INTEGER if v is not None],
    ),
    "append": ("array|dtype", lambda o, v: o.stream.append(v), (*NO_ARRAY, np.zeros(0), np.zeros(3, object))),
    "write": ("lba", lambda o, v: o.stream.write(v, np.zeros(4)), NO_INTEGER),
    "read": ("read of a", lambda o, v: o.stream.read(v), ALL),
    "read, out": (
        "out",
        lambda o, v: o.stream.read(o.stream.stored_at([Extent(0, 1)], (9,), "f4"), v),
        (*TEXTS, [], {}, -1, object(), True, np.zeros(9), np.zeros(9, "f4")[::-1], np.zeros(8, "f4")),
    ),
    "read_blocks": ("lba", lambda o, v: o.stream.read_blocks(v, 1), NO_INTEGER),
    "read_blocks, blocks": ("blocks", lambda o, v: o.stream.read_blocks(0, v), (*NO_INTEGER, 0, 1 << 40)),
    "health": ("StoredArray", lambda o, v: o.stream.health(v), ALL),
    "drop": ("StoredArray", lambda o, v: o.stream.drop(v), ALL),
    "drop_all_but": ("kept", lambda o, v: o.stream.drop_all_but(v), NO_LIST),
    "annotate": (
        "note",
        lambda o, v: o.stream.annotate(v),
        ("x", *LISTS, *FRACTIONS, *NEGATIVE, *OBJECTS, True),
    ),
    **{
        name: ("zone", partial(_on_zone, name), NO_INTEGER)
        for name in ("open_zone", "close_zone", "finish_zone", "reset_zone", "take_offline")
    },
    "retire_zone": ("zone", lambda o, v: o.stream.retire_zone(v, ZoneState.OFFLINE), NO_INTEGER),
    "retire_zone, state": ("state", lambda o, v: o.stream.retire_zone(0, v), NO_PORT),
    "manage_all": ("action", lambda o, v: o.stream.manage_all(v), NO_PORT),
    "report": ("zone", lambda o, v: o.stream.report(v), NO_INTEGER),
    "stored_at": ("extents", lambda o, v: o.stream.stored_at(v, (4,), "u1"), NO_LIST),
    "stored_at, shape": (
        "shape",
        lambda o, v: o.stream.stored_at([Extent(0, 1)], v, "u1"),
        ("x", [], *FRACTIONS, -1, 4, None, True, (-1,), (1 << 40,), (1.5,), (1 << 20, 1 << 20)),
    ),
    "catalog, name": (
        "name",
        lambda o, v: o.catalog[v],
        [v for v in NO_TEXT if not isinstance(v, list | dict)],
    ),
    "catalog, set": ("name", lambda o, v: o.catalog.__setitem__(v, np.zeros(3)), (*NO_TEXT, "")),
    "catalog, value": (
        "array|dtype",
        lambda o, v: o.catalog.__setitem__("x", v),
        (*NO_ARRAY, np.zeros(3, object)),
    ),
    "add": ("name", lambda o, v: o.catalog.add(v, np.zeros(3)), NO_TEXT),
    "delete": ("name", lambda o, v: o.catalog.delete(v), NO_LIST),
    "rename": ("name", lambda o, v: o.catalog.rename(v, "b"), NO_TEXT),
    "update": (
        "arrays",
        lambda o, v: o.catalog.update(v),
        ("x", *FRACTIONS, -1, *OBJECTS, True, np.zeros(3)),
    ),
    "names": ("prefix", lambda o, v: o.catalog.names(v), NO_TEXT),
    "info": ("name", lambda o, v: o.catalog.info(v), NO_TEXT),
    "view": ("name", lambda o, v: o.catalog.view(v), NO_TEXT),
    "Catalog": ("stream", lambda o, v: Catalog(v), ALL),
    "save, name": ("name", lambda o, v: o.store.save_async(v, 0, {}), (*NO_TEXT, "")),
    "save, step": ("step", lambda o, v: o.store.save_async("a", v, {}), NO_INTEGER),
    "save, arrays": (
        "array",
        lambda o, v: o.store.save_async("a", 0, v),
        [v for v in ALL if not isinstance(v, dict)],
    ),
    "save, array": (
        "array",
        lambda o, v: o.store.save_async("a", 0, {"w": v}),
        (*TEXTS, [], None, 1, object()),
    ),
    "save, host": (
        "host",
        lambda o, v: o.store.save_async("a", 0, {}, v),
        ("x", *LISTS, 1.5, -1, *OBJECTS, True),
    ),
    "writer, name": ("name", lambda o, v: o.store.writer(v, 0), (*NO_TEXT, "")),
    "writer, step": ("step", lambda o, v: o.store.writer("a", v), NO_INTEGER),
}


@pytest.fixture(params=[FunctionalLink, ModelLink], ids=["functional", "model"], scope="module")
def opened(request):
    with open_device("tiny", request.param, node="store") as device:
        yield Opened(device)


def refused(name: str, call: Call, opened: Any, value: object) -> None:
    with pytest.raises(FlashtrainError, match=f"(?i){name}") as caught:
        call(opened, value)
    assert len(str(caught.value)) < 300, "one line, whatever the argument"


@pytest.mark.parametrize("argument", OPENINGS)
def test_openings(argument):
    call, values = OPENINGS[argument]
    for value in values:
        refused("expected|no Link is called|no configuration", call, None, value)


@pytest.mark.parametrize("method", CALLS)
def test_absurd_arguments(opened, method):
    name, call, values = CALLS[method]
    for value in values:
        refused(name, call, opened, value)


def test_the_device_is_as_before(opened):
    """The last test of the module: what was refused has changed nothing."""
    assert not opened.catalog and not opened.store.checkpoints
    assert all(zone.state is ZoneState.EMPTY for zone in opened.stream.report())


def test_arrays_of_a_tebibyte(opened):
    """They are refused before there is a copy of them."""
    large = np.broadcast_to(np.uint8(1), (1 << 20, 1 << 20))
    for store in (opened.stream.append, lambda array: opened.catalog.__setitem__("x", array)):
        with pytest.raises((StreamFull, CatalogFull)):
            store(large)


def test_arrays_that_are_not_contiguous(opened):
    array = np.arange(60).reshape(6, 10)[::2, ::-3]
    opened.catalog["x"] = array
    assert np.array_equal(opened.catalog["x"], array)
    del opened.catalog["x"]
    with pytest.raises(ArrayError, match="nothing to store"):
        opened.stream.append(array[:0])
