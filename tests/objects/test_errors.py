"""Each mistake is the error that file systems have for it, and names the thing."""

import re
import socket

import fsspec
import pytest

from flashtrain.nvme.wire.dhchap import make_secret
from flashtrain.objects.errors import NamesDamaged
from flashtrain.objects.record import Kind, Record, packed
from flashtrain.objects.url import Address, path_of
from flashtrain.spec import ConfigError
from tests.nvme.helpers import served
from tests.objects.helpers import connect, url

SECRET = make_secret(bytes(range(32)))


@pytest.mark.parametrize(
    "work, error, text",
    [
        (lambda fs: fs.cat("objects/none"), FileNotFoundError, "objects/none"),
        (lambda fs: fs.open("objects/none"), FileNotFoundError, "objects/none"),
        (lambda fs: fs.rm("objects/none"), FileNotFoundError, "objects/none"),
        (lambda fs: fs.mv("objects/none", "objects/x"), FileNotFoundError, "objects/none"),
        (lambda fs: fs.cp_file("objects/none", "objects/x"), FileNotFoundError, "objects/none"),
        (lambda fs: fs.ls("objects/none"), FileNotFoundError, "objects/none"),
        (lambda fs: fs.mkdir("objects/x/y", create_parents=False), FileNotFoundError, "objects/x"),
        (lambda fs: fs.pipe("none/x", b""), FileNotFoundError, "no stream 'none'; it has objects, names"),
        (lambda fs: fs.open("objects/a/b", "xb"), FileExistsError, "objects/a/b"),
        (lambda fs: fs.mkdir("objects/a"), FileExistsError, "objects/a"),
        (lambda fs: fs.makedirs("objects/a/b", exist_ok=True), FileExistsError, "objects/a/b"),
        (lambda fs: fs.open("objects/a", "wb"), IsADirectoryError, "objects/a"),
        (lambda fs: fs.cat_file("objects/a"), IsADirectoryError, "objects/a"),
        (lambda fs: fs.open("objects", "wb"), IsADirectoryError, "objects"),
        (lambda fs: fs.rm("objects/a"), IsADirectoryError, "objects/a"),
        (lambda fs: fs.mv("objects/a", "objects/c"), IsADirectoryError, "objects/a"),
        (lambda fs: fs.open("objects/a/b/c", "wb"), NotADirectoryError, "objects/a/b"),
        (lambda fs: fs.mkdir("objects/a/b/c"), NotADirectoryError, "objects/a/b"),
        (lambda fs: fs.ls("objects/a/b/c"), FileNotFoundError, "objects/a/b/c"),
        (lambda fs: fs.rmdir("objects/a"), OSError, "not empty: 'objects/a'"),
        (lambda fs: fs.rmdir("objects"), OSError, "not empty: 'objects'"),
        (lambda fs: fs.mkdir("objects"), FileExistsError, "objects"),
        (lambda fs: fs.mkdir("names/x"), PermissionError, "stream 'names' keeps the names"),
        (lambda fs: fs.pipe("names/x", b""), PermissionError, "stream 'names' keeps the names"),
        (lambda fs: fs.open("objects/a/b", "ab"), ValueError, "expected rb, wb or xb"),
        (lambda fs: fs.pipe("objects/../x", b""), ValueError, "empty, . or .."),
        (lambda fs: fs.pipe("objects/x\n", b""), ValueError, "control character"),
        (lambda fs: fs.mv("objects/a", "objects/a/c", recursive=True), OSError, "into itself"),
        (lambda fs: fs.pipe({"objects/n": b"", "objects/n/m": b""}), NotADirectoryError, "objects/n"),
    ],
)
def test_mistakes(fs, work, error, text):
    fs.pipe("objects/a/b", b"b")
    with pytest.raises(error, match=re.escape(text)):
        work(fs)
    assert fs.find("objects") == ["objects/a/b"]


def test_a_dead_server():
    """No operation takes it for an empty one; a client goes on when it is there again."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    fs = fsspec.filesystem("flash", port=port, skip_instance_cache=True)
    for work in (fs.ls, fs.exists, fs.isfile, fs.find, fs.cat_file, fs.rm, lambda path: fs.pipe(path, b"")):
        with pytest.raises(ConnectionError, match=f"flash://127.0.0.1:{port}: Connection refused"):
            work("objects/x")
    with served("tiny", node="objects") as target:
        client = connect(target)
        client.pipe("objects/x", b"x")
        file = client.open("objects/y", "wb", block_size=512)
        file.write(bytes(600))
        target.run(target.target.lose_power())
        assert client.cat("objects/x") == b"x"
        file.write(bytes(600))  # what is written to a non-volatile stream stays
        file.close()
        assert client.cat("objects/y") == bytes(1200)
    with pytest.raises(ConnectionError):
        client.ls("objects")
    with pytest.raises(ConnectionError):
        client.find("objects")
    client.close()


@pytest.mark.parametrize(
    "options, message",
    [
        ({"lease": 0}, "lease is 0; expected 0.01 to 1,000,000 seconds"),
        ({"lease": float("nan")}, "lease is nan"),
        ({"timeout": -5}, "timeout is -5"),
        ({"host_nqn": ""}, "host_nqn is ''; expected a name such as nqn."),
        ({"nqn": "foo"}, "nqn is 'foo'"),
    ],
)
def test_values_that_protect_nothing(options, message):
    with pytest.raises(ConfigError, match=message):
        fsspec.filesystem("flash", skip_instance_cache=True, **options)


OWN = "nqn.2014-08.org.example:me"


def test_who_may_connect():
    with served("tiny", node="objects", hosts=frozenset({OWN}), secret=SECRET) as target:
        with pytest.raises(PermissionError, match=r"host '.*:you' may not connect"):
            connect(target, host_nqn="nqn.2014-08.org.example:you", dhchap_secret=SECRET).ls("")
        with pytest.raises(PermissionError, match="authentication failed"):
            connect(target, host_nqn=OWN, dhchap_secret=make_secret(bytes(32))).ls("")
        with pytest.raises(PermissionError, match="demands a secret"):
            connect(target, host_nqn=OWN).ls("")
        options = {"host_nqn": OWN, "dhchap_secret": SECRET}
        with fsspec.open(url(target, "objects/x"), "wb", **options) as file:
            file.write(b"x")
        host, port = target.address
        assert fsspec.filesystem("flash", host=host, port=port, **options).cat("objects/x") == b"x"


def test_rights_of_the_host():
    """Without a stream for names there is nothing; without the right to append nothing is written."""
    with served("tiny", node="serve") as target, pytest.raises(FileNotFoundError, match="no stream 'names'"):
        connect(target).ls("")
    with served("tiny", node="single") as target:
        fs = connect(target, names="trained")  # this host may read it
        assert fs.ls("", detail=False) == ["inputs"]
        with pytest.raises(PermissionError, match="may not append to stream 'trained'"):
            fs.pipe("inputs/x", b"x")


def test_a_stream_with_other_data_is_left_alone():
    with served("tiny", node="objects") as target, target.host() as host:
        host.append(2, 0, b"x" * 512)
        with pytest.raises(NamesDamaged, match="data in zone 0 that are no names"):
            connect(target).ls("")


@pytest.mark.parametrize("document", [{"names": 1}, [], {"entries": {}, "zones": [[1]], "following": 1}])
def test_a_record_that_is_none_of_names_is_damage(document):
    """Its checksum is right."""
    (part,) = packed(Record(Kind.SNAPSHOT, 1, 1, 5, document), 512, 1 << 20)
    with served("tiny", node="objects") as target, target.host() as host:
        host.append(2, 0, part)
        with pytest.raises(
            NamesDamaged, match="stream 'names' has a record in block 0 that is none of names"
        ):
            connect(target).ls("")


def test_urls():
    assert Address.of("flash://there:9/objects/x") == ("there", 9)
    assert Address.of("flash:///objects/x") == ("127.0.0.1", 4420)
    assert Address.of("flash://[::1]:9/objects/x") == ("::1", 9)
    assert str(Address("::1", 9)) == "flash://[::1]:9"
    for one in ("flash://there:9/objects/a/b/", "/objects/a/b", "objects/a/b"):
        assert path_of(one) == "objects/a/b"
    assert path_of("flash://there:9") == path_of("flash://there:9/") == ""
    fs, path = fsspec.core.url_to_fs("flash://there:9/objects/x")
    assert (fs.address, path, fs.unstrip_protocol(path)) == (
        ("there", 9),
        "objects/x",
        "flash://there:9/objects/x",
    )
