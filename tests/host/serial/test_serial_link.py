"""A device behind a serial line: the same answers as of the Link behind it, and errors that name the line."""

import os
import random
import socket
import time
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from flashtrain.host import DeviceMismatch, FunctionalLink, HostError, RegisterError, open_device
from flashtrain.host.serial import SerialLink, WireDropped
from flashtrain.host.serial.frames import Answer, Deframer, Request, framed
from flashtrain.host.serial.wire import Wire
from flashtrain.spec import ConfigError, preset
from flashtrain.spec.registers import ID_VALUE, Register
from flashtrain.spec.serial import ESCAPE, FLAG, Flags, Operation, Status
from tests.host.serial.bridge_model import BridgeModel, Served

TINY = preset("tiny")
MEMORY_BYTES = 1 << 16


def same(content: bytes) -> bytes:
    return content


@contextmanager
def board(spoil=same, config=TINY, **options):
    """A `SerialLink` to a functional device, and the bridge between them."""
    ours, theirs = socket.socketpair()
    with ours, theirs, FunctionalLink(config, MEMORY_BYTES) as device:
        model = BridgeModel(device)
        with Served(model, theirs.fileno(), spoil):
            with SerialLink(ours, config, timeout=0.2, **options) as link:
                yield link, model
            ours.close()


def test_frames(seed):
    """A frame is found behind anything, and no damaged one passes."""
    rng = random.Random(seed)
    for _ in range(300):
        data = bytes(rng.choice((FLAG, ESCAPE, 0, rng.randrange(256))) for _ in range(rng.randrange(40)))
        request = Request(rng.choice(list(Operation)), rng.randrange(256), 3, rng.randrange(1 << 32), data)
        noise = bytes(rng.randrange(256) for _ in range(rng.randrange(30)))
        deframer = Deframer()
        contents = [one for byte in noise + request.frame() for one in deframer.feed(bytes([byte]))]
        assert [Request.of(content) for content in contents] == [request]
        frame = bytearray(request.frame())
        frame[rng.randrange(1, len(frame) - 1)] ^= 1 << rng.randrange(8)
        assert request not in [Request.of(content) for content in Deframer().feed(bytes(frame))]
    assert Deframer().feed(framed(b"abc") + framed(b"")) == [b"abc"]


def test_known_bytes():
    """The CRC is that of RFC 1662, C.3: "123456789" has CBF43926h."""
    assert framed(b"123456789") == b"\x7e123456789\x26\x39\xf4\xcb\x7e"
    assert framed(b"\x7e\x7d")[1:5] == b"\x7d\x5e\x7d\x5d"


def test_appends_and_reads(seed):
    rng = np.random.default_rng(seed)
    with board() as (link, model), open_device(link=link) as device:
        stream = device.stream("activations")
        arrays = [rng.integers(0, 256, size, np.uint8) for size in (1, 512, 3000, 4096)]
        stored = [stream.append(array) for array in arrays]
        for array, handle in zip(arrays, stored, strict=True):
            assert np.array_equal(stream.read(handle), array)
        with pytest.raises(RegisterError, match="0x0000"):
            link.write_register(Register.ID, 1)
        # Zeros of the queues and of padding are filled, and not sent.
        sent = sum(len(request.data) for request in model.performed)
        assert sent < 3 * sum(len(array) for array in arrays) + 10_000


def test_a_bad_line(seed):
    """Every tenth piece is damaged, cut or lost: the same content, and each request performed once."""
    rng = random.Random(seed)

    def spoil(content: bytes) -> bytes:
        if not content or rng.random() > 0.1:
            return content
        place = rng.randrange(len(content))
        return rng.choice(
            (b"", content[:place], content[:place] + bytes([content[place] ^ 0x10]) + content[place + 1 :])
        )

    with board(spoil, tries=30) as (link, model), open_device(link=link) as device:
        stream = device.stream("activations")
        array = np.arange(2000, dtype=np.uint16)
        handle = stream.append(array)
        assert np.array_equal(stream.read(handle), array)
        sequences = [
            request.sequence for request in model.performed if request.operation is not Operation.OPEN
        ]
        assert all((one + 1) % 256 == other for one, other in pairwise(sequences))


def test_a_line_that_drops():
    with board(tries=2) as (link, _):
        link._wire._stream.shutdown(socket.SHUT_RDWR)
        with pytest.raises(WireDropped, match=r"socket.*(closed|dropped)"):
            link.read_register(Register.ID)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [(lambda content: b"", "no answer"), (lambda content: content[:-3] + b"\x7e", "damaged")],
)
def test_a_board_that_is_silent(spoil, said):
    broken = False

    def breaks(content: bytes) -> bytes:
        return spoil(content) if broken and content else content

    with board(breaks, tries=2) as (link, _):
        broken = True
        begun = time.monotonic()
        with pytest.raises(WireDropped, match=r"socket.*no answer to READ at 0x0 in 2 tries"):
            link.read_register(Register.ID)
        assert time.monotonic() - begun < 3


def test_a_terminal():
    """A pseudo-terminal: its other end goes away, and the path is named."""
    master, slave = os.openpty()
    path = os.ttyname(slave)
    with FunctionalLink(TINY, MEMORY_BYTES) as device, Served(BridgeModel(device), master):
        with SerialLink(path, TINY, timeout=0.5) as link:
            assert link.read_register(Register.ID) == ID_VALUE
    wire = Wire(path, 115_200)
    os.close(slave)
    os.close(master)
    with pytest.raises(WireDropped, match=path):
        wire.receive(1)
    wire.close()


def test_refused_arguments(tmp_path):
    with pytest.raises(WireDropped, match=r"nothing.*No such file"):
        SerialLink(tmp_path / "nothing")
    with pytest.raises(ConfigError, match="no terminal"):
        (tmp_path / "file").touch()
        SerialLink(tmp_path / "file")
    with pytest.raises(ConfigError, match="baud"):
        SerialLink(tmp_path / "file", baud=12345)
    with pytest.raises(ConfigError, match="port"):
        SerialLink(17)


def test_another_board():
    other = replace(TINY, name="other", timing=replace(TINY.timing, clock_mhz=500))
    ours, theirs = socket.socketpair()
    with (
        ours,
        theirs,
        FunctionalLink(TINY, MEMORY_BYTES) as device,
        Served(BridgeModel(device), theirs.fileno()),
    ):
        with pytest.raises(DeviceMismatch, match="600000000 Hz; 'other' has 500000000"):
            SerialLink(ours, other)


def test_power():
    with board() as (link, _), pytest.raises(HostError, match="power"):
        link.power_cycle()


def test_answers():
    answer = Answer(Operation.READ, 9, Status.REFUSED, Flags.INTERRUPT, (1 << 48) - 2, b"abcd")
    (content,) = Deframer().feed(answer.frame())
    assert Answer.of(content) == answer
    assert Answer.of(content[:5]) is None
