"""The tables of streams, the permission matrix they make, and the zones they give."""

from dataclasses import replace

import pytest

from flashtrain.spec import NODES, Access, ConfigError, NodeTable, Persistency, Port
from flashtrain.spec.streams import (
    ACTIVATION_NODE,
    OBJECTS_NODE,
    SINGLE_NODE,
    STORE_NODE,
    UPDATE_NODE,
    WEIGHT_NODE,
    Codec,
    Retention,
)

# What Behemoth's table prints: persistency, retention, host may, core may.
TABLES = {
    "activation": {
        (1, "inputs"): ("non-volatile", "years", "append", "read"),
        (2, "activations"): ("volatile", "minutes", "-", "read append"),
        (8, "journal"): ("non-volatile", "years", "read append", "-"),
    },
    "weight": {
        (2, "weights"): ("volatile", "minutes", "-", "read append"),
        (3, "trained"): ("non-volatile", "years", "read", "read append"),
        (8, "journal"): ("non-volatile", "years", "read append", "-"),
    },
    "single": {
        (1, "inputs"): ("non-volatile", "years", "append", "read"),
        (2, "activations"): ("volatile", "minutes", "-", "read append"),
        (3, "trained"): ("non-volatile", "years", "read", "read append"),
        (4, "weights"): ("volatile", "minutes", "-", "read append"),
        (8, "journal"): ("non-volatile", "years", "read append", "-"),
    },
    "store": {
        (1, "inputs"): ("non-volatile", "years", "append", "read"),
        (2, "activations"): ("volatile", "minutes", "-", "read append"),
        (3, "trained"): ("non-volatile", "years", "read", "read append"),
        (4, "weights"): ("volatile", "minutes", "-", "read append"),
        (5, "catalog"): ("non-volatile", "years", "read append", "read"),
        (8, "journal"): ("non-volatile", "years", "read append", "-"),
    },
    "update": {
        (1, "inputs"): ("non-volatile", "years", "append", "read"),
        (2, "activations"): ("volatile", "minutes", "-", "read append"),
        (3, "trained"): ("non-volatile", "years", "read", "read append"),
        (4, "weights"): ("volatile", "minutes", "-", "read append"),
        (5, "state_a"): ("non-volatile", "days", "read", "read append"),
        (6, "state_b"): ("non-volatile", "days", "read", "read append"),
        (7, "state_c"): ("non-volatile", "days", "read", "read append"),
        (8, "journal"): ("non-volatile", "years", "read append", "-"),
    },
    "serve": {
        (1, "storage"): ("non-volatile", "years", "read append", "read append"),
        (8, "journal"): ("non-volatile", "years", "read append", "-"),
    },
    "objects": {
        (1, "objects"): ("non-volatile", "years", "read append", "read"),
        (2, "names"): ("non-volatile", "years", "read append", "read"),
        (8, "journal"): ("non-volatile", "years", "read append", "-"),
    },
}


def shown(access: Access) -> str:
    return " ".join(a.name.lower() for a in (Access.READ, Access.APPEND) if a in access) or "-"


@pytest.mark.parametrize("name", TABLES)
def test_node(name):
    node = NODES[name]
    assert node.name == name
    assert {
        (s.nsid, s.name): (
            s.persistency.name.lower().replace("_", "-"),
            s.retention.name.lower(),
            shown(s.access(Port.HOST)),
            shown(s.access(Port.CORE)),
        )
        for s in node.streams
    } == TABLES[name]


def test_numbers():
    assert list(NODES) == list(TABLES)
    assert (Port.HOST, Port.CORE) == (0, 1)
    assert (Access.NONE, Access.READ, Access.APPEND) == (0, 1, 2)
    assert (Persistency.VOLATILE, Persistency.NON_VOLATILE) == (0, 1)
    assert (Retention.MINUTES, Retention.DAYS, Retention.YEARS) == (0, 1, 2)
    assert Codec.RAW == 0


@pytest.mark.parametrize(
    ("node", "total", "counts"),
    [
        (SINGLE_NODE, 10, [2, 2, 2, 2, 2]),
        (SINGLE_NODE, 16, [2, 4, 2, 6, 2]),
        (SINGLE_NODE, 32, [5, 11, 5, 9, 2]),
        (SINGLE_NODE, 683, [98, 290, 98, 195, 2]),
        (ACTIVATION_NODE, 683, [227, 454, 2]),
        (WEIGHT_NODE, 32, [19, 11, 2]),
        (STORE_NODE, 16, [2, 3, 2, 2, 5, 2]),
        (STORE_NODE, 32, [4, 8, 4, 6, 8, 2]),
        (OBJECTS_NODE, 16, [11, 3, 2]),
        (OBJECTS_NODE, 32, [27, 3, 2]),
        (OBJECTS_NODE, 683, [672, 9, 2]),
        (UPDATE_NODE, 16, [2, 2, 2, 2, 2, 2, 2, 2]),
        (UPDATE_NODE, 32, [3, 6, 3, 4, 4, 4, 6, 2]),
        (UPDATE_NODE, 683, [57, 168, 57, 113, 113, 113, 60, 2]),
    ],
)
def test_zones_by_share(node, total, counts):
    ranges = list(node.zones(total).values())
    assert [len(zones) for zones in ranges] == counts
    assert [zone for zones in ranges for zone in zones] == list(range(total))
    assert list(node.zones(total)) == [stream.nsid for stream in node.streams]


def test_generations_of_state_are_of_one_size():
    for total in range(16, 700):
        zones = UPDATE_NODE.zones(total)
        assert len({len(zones[UPDATE_NODE.named(f"state_{name}").nsid]) for name in "abc"}) == 1


def test_too_few_zones():
    with pytest.raises(ConfigError) as caught:
        SINGLE_NODE.zones(9)
    assert str(caught.value) == "geometry.blocks is 9; expected at least two zones for each of 5 streams"


def test_streams_are_found_by_name():
    assert SINGLE_NODE.named("weights").nsid == 4
    with pytest.raises(ConfigError) as caught:
        ACTIVATION_NODE.named("weights")
    assert (
        str(caught.value) == "node 'activation' has no stream 'weights'; it has inputs, activations, journal"
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nsid": 0}, "stream.nsid is 0; expected an integer from 1 to 8"),
        ({"nsid": 9}, "stream.nsid is 9; expected an integer from 1 to 8"),
        ({"share": -1}, "stream.share is -1; expected an integer from 0 to 1000"),
    ],
)
def test_bad_streams(change, message):
    with pytest.raises(ConfigError) as caught:
        replace(SINGLE_NODE.streams[0], **change)
    assert str(caught.value) == message


def test_bad_nodes():
    one, two, journal = ACTIVATION_NODE.streams
    with pytest.raises(ConfigError, match=r"node.streams is \(\); expected at least one stream"):
        NodeTable("empty", ())
    with pytest.raises(ConfigError, match=r"node.streams\[\].nsid is \[1, 1\]; expected distinct values"):
        NodeTable("twice", (one, replace(two, nsid=1)))
    with pytest.raises(
        ConfigError, match=r"node.streams\[\].name is \['inputs', 'inputs'\]; expected distinct"
    ):
        NodeTable("twice", (one, replace(two, name="inputs")))
    with pytest.raises(ConfigError, match=r"node.streams\[\].share is \[0\]; expected a stream with a share"):
        NodeTable("nothing else", (journal,))
    for change in ({"share": 1}, {"persistency": Persistency.VOLATILE}, {"host": Access.READ}):
        with pytest.raises(
            ConfigError, match="a non-volatile stream of share 0 without a codec, for the host alone"
        ):
            NodeTable("bad journal", (one, replace(journal, **change)))
