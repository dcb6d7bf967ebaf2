"""The system tests run on every Link: `CASES` has one line for each Link and preset."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest

from flashtrain.host import CompletionEntry, Device, FunctionalLink, Link, LinkFactory, open_device, raw_entry
from flashtrain.host.queues.entries import parse_completion
from flashtrain.model import ModelLink
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import FmsConfig, Opcode, Port, Status, preset
from flashtrain.spec.streams import SINGLE_NODE, UPDATE_NODE

MEMORY_BYTES = 8 << 20
MOVE_BLOCKS = (
    Opcode.READ, Opcode.WRITE, Opcode.ZONE_APPEND, Opcode.UPDATE, Opcode.SET_CONSTANTS, Opcode.GET_STATISTICS,
)  # fmt: skip


class Case(NamedTuple):
    make: LinkFactory
    preset: str
    name: str


CASES = [
    Case(FunctionalLink, "tiny", "functional-tiny"),
    Case(FunctionalLink, "small", "functional-small"),
    Case(ModelLink, "tiny", "model-tiny"),
    Case(ModelLink, "small", "model-small"),
    Case(RtlLink, "tiny", "rtl-tiny"),
]


@pytest.fixture(params=CASES, ids=lambda case: case.name)
def link(request: pytest.FixtureRequest) -> Iterator[Link]:
    """An open Link to a device that was not enabled yet."""
    case: Case = request.param
    with case.make(preset(case.preset), MEMORY_BYTES) as opened:
        yield opened


@pytest.fixture
def config(link: Link) -> FmsConfig:
    return link.config


@pytest.fixture
def device(link: Link) -> Iterator[Device]:
    """A device with all streams of a single node."""
    with open_device(link=link, node=SINGLE_NODE) as opened:
        yield opened


@pytest.fixture
def update_device(link: Link) -> Iterator[Device]:
    """A device with streams for optimizer state."""
    with open_device(link=link, node=UPDATE_NODE) as opened:
        yield opened


class Raw:
    """Raw commands to a device, well formed unless a field says otherwise.

    data: what commands move, `blocks` logical blocks; stream is a stream's name.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self.config = device.config
        self.page_bytes = device.config.geometry.page_bytes
        self.blocks = device.config.max_blocks
        self.data = device.buffer(self.blocks * self.page_bytes, np.uint8)
        self.address = device.address_of(self.data)

    def entry(self, opcode: int, stream: str = "activations", **fields: int) -> bytes:
        nsid = next((s.nsid for s in self.device.node.streams if s.name == stream), 0)
        defaults: dict[str, int] = {"opcode": opcode, "nsid": nsid, "cid": 7}
        if opcode in (Opcode.SET_CONSTANTS, Opcode.GET_STATISTICS):
            g = self.config.geometry
            defaults["nlb"] = g.channels * g.dies - 1
        if opcode in MOVE_BLOCKS:
            blocks = (defaults | fields).get("nlb", 0) + 1
            defaults |= {"psdt": 1, "address": self.address, "length": blocks * self.page_bytes}
        elif opcode == Opcode.ZONE_MANAGEMENT_RECEIVE:
            defaults |= {"psdt": 1, "address": self.address, "length": 256, "dwords": 63}
        return raw_entry(**(defaults | fields))

    def answer(
        self, opcode: int, stream: str = "activations", port: Port = Port.CORE, **fields: int
    ) -> CompletionEntry:
        return self.device.submit_raw(port, self.entry(opcode, stream, **fields))

    def status(
        self, opcode: int, stream: str = "activations", port: Port = Port.CORE, **fields: int
    ) -> Status | int:
        return self.answer(opcode, stream, port, **fields).status


@pytest.fixture
def raw(device: Device) -> Raw:
    return Raw(device)


@pytest.fixture
def parse():
    """Turns 16 bytes of memory into a completion."""
    return parse_completion


@pytest.fixture
def raw_of():
    """Makes a `Raw` of a device that the test opened itself."""
    return Raw
