"""Every port, stream and command: what the node's table allows is done, the rest is denied."""

import pytest

from flashtrain.host import open_device
from flashtrain.spec import NODES, Access, Opcode, Port, Status, ZoneAction, ZoneState

NEEDS = {
    Opcode.READ: Access.READ,
    Opcode.WRITE: Access.APPEND,
    Opcode.ZONE_APPEND: Access.APPEND,
    Opcode.FLUSH: Access.APPEND,
    Opcode.ZONE_MANAGEMENT_SEND: Access.APPEND,
    Opcode.ZONE_MANAGEMENT_RECEIVE: Access.READ | Access.APPEND,
    Opcode.STREAM_RESET: Access.APPEND,
    Opcode.ZONE_RETIRE: Access.APPEND,
}
# Zone 1 is retired, so that the other commands, all to zone 0, do not notice.
FIELDS = {
    Opcode.ZONE_MANAGEMENT_SEND: {"action": ZoneAction.RESET},
    Opcode.ZONE_RETIRE: {"action": ZoneState.READ_ONLY},
}
# Behemoth's slide, as (host, core): what the issue asks the tables to be.
STATED = {
    "activation": {"inputs": ("a", "r"), "activations": ("", "ra")},
    "weight": {"weights": ("", "ra"), "trained": ("r", "ra")},
}


def test_the_tables_are_those_of_the_paper():
    letters = {"r": Access.READ, "a": Access.APPEND}
    for node, streams in STATED.items():
        for name, ports in streams.items():
            stream = NODES[node].named(name)
            for port, stated in zip(Port, ports, strict=True):
                assert stream.access(port) == sum(letters[letter] for letter in stated)


@pytest.mark.parametrize("node", NODES.values(), ids=lambda node: node.name)
def test_permission_matrix(link, node, raw_of):
    with open_device(link=link, node=node) as device:
        raw = raw_of(device)
        for stream in node.streams:
            for port in Port:
                for opcode, needed in NEEDS.items():
                    slba = link.config.geometry.zone_size if opcode is Opcode.ZONE_RETIRE else 0
                    status = raw.status(opcode, stream.name, port, slba=slba, **FIELDS.get(opcode, {}))
                    allowed = bool(stream.access(port) & needed)
                    where = f"{opcode.name} of {stream.name} by {port.name}: {status!r}"
                    assert (status != Status.ACCESS_DENIED) == allowed, where
                    if allowed and opcode is not Opcode.READ and opcode is not Opcode.ZONE_RETIRE:
                        assert status in (Status.SUCCESS, Status.ZONE_INVALID_WRITE), where


def test_a_denied_command_changes_nothing(device, raw):
    assert raw.status(Opcode.ZONE_APPEND, "activations", Port.CORE) == Status.SUCCESS
    before = device.stream("activations").report()
    for opcode in NEEDS:
        assert raw.status(opcode, "activations", Port.HOST, **FIELDS.get(opcode, {})) == Status.ACCESS_DENIED
    assert device.stream("activations").report() == before


def test_streams_that_the_node_lacks_do_not_exist(link, raw_of):
    with open_device(link=link, node=NODES["activation"]) as device:
        raw = raw_of(device)
        for nsid in (3, 4, 7):
            assert raw.status(Opcode.FLUSH, nsid=nsid) == Status.INVALID_FIELD
        for nsid in (0, 9, 0xFFFF_FFFF):
            assert raw.status(Opcode.FLUSH, nsid=nsid) == Status.INVALID_NAMESPACE
