"""Streams of other kinds: volatile ones, several of them, and namespaces of targets that give no names."""

from dataclasses import replace

import pytest

from flashtrain.nvme.errors import ServeError
from flashtrain.nvme.wire.stream_area import StreamArea
from flashtrain.spec import Persistency
from flashtrain.spec.streams import OBJECTS_NODE
from tests.nvme.helpers import served
from tests.objects.helpers import connect

OTHER = replace(OBJECTS_NODE.streams[0], nsid=3, name="other", share=40)
SCRATCH = replace(OTHER, nsid=4, name="scratch", persistency=Persistency.VOLATILE, share=0)
STREAMS = (*OBJECTS_NODE.streams[:2], OTHER, SCRATCH, *OBJECTS_NODE.streams[2:])
TWO = replace(OBJECTS_NODE, streams=STREAMS)


def test_a_volatile_stream_keeps_no_objects():
    with served("tiny", node=TWO) as target:
        fs = connect(target)
        assert fs.ls("", detail=False) == ["objects", "other"]
        with pytest.raises(PermissionError, match="stream 'scratch' is volatile"):
            fs.pipe("scratch/x", b"x")
        fs.close()


def test_objects_go_from_one_stream_to_another():
    with served("tiny", node=TWO) as target:
        fs = connect(target)
        assert fs.ls("", detail=False) == ["objects", "other"]
        fs.pipe("other/run/x", b"x" * 2000)
        fs.cp("other/run", "objects/run", recursive=True)
        fs.mv("other/run/x", "objects/y")
        assert fs.find("") == ["objects/run/x", "objects/y"]
        assert fs.cat("objects/run/x") == fs.cat("objects/y") == b"x" * 2000
        fs.close()


def test_namespaces_without_names(monkeypatch):
    """Such a target may have a volatile cache, so data are flushed."""
    monkeypatch.setattr(StreamArea, "parse", classmethod(lambda cls, identify: None))
    with served("tiny", node="objects") as target:
        fs = connect(target, names="2")
        fs.pipe("1/x", b"x" * 700)
        assert fs.find("") == ["1/x"] and fs.cat("1/x") == b"x" * 700
        fs.close()


def test_a_namespace_says_which_stream_it_is():
    with served("tiny", node=TWO) as target, target.host() as host:
        areas = [StreamArea.parse(host.identify(0, nsid)) for nsid in (1, 2, 3, 4)]
        for area, stream in zip(areas, TWO.streams, strict=False):
            assert area == StreamArea(stream.name, stream.host, stream.persistency, stream.retention)
        assert StreamArea.parse(bytes(4096)) is None


def test_a_name_that_does_not_fit():
    long = StreamArea("x" * 200, SCRATCH.host, SCRATCH.persistency, SCRATCH.retention)
    with pytest.raises(ServeError, match="more than 128 bytes"):
        long.packed()
