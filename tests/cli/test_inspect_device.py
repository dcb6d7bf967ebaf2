"""`flashtrain device`: sections, documents, figures, mistakes; and the file stays as it is."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from flashtrain.cli.inspect_device import SECTIONS
from flashtrain.cli.main import main
from flashtrain.host import open_device
from flashtrain.host.image import open_image
from flashtrain.spec import preset
from flashtrain.spec.image import (
    CLOCK,
    CLOCK_AT,
    HEADER,
    HEADER_AT,
    NODE,
    NODE_AT,
    ImageHeader,
    opened,
    sealed,
)

PAGE = Path(__file__).parents[2] / "docs" / "device.md"


@pytest.fixture(scope="module")
def example(tmp_path_factory):
    """The image of the page's example, in a folder of its own; all tests leave its bytes as they are."""
    folder = tmp_path_factory.mktemp("example")
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert code is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        exec(compile(code[1], str(PAGE), "exec"), {})
    image = folder / "flash.img"
    before = image.read_bytes()
    yield image
    assert image.read_bytes() == before


@pytest.fixture
def unchanged(example):
    """The image, whose times and size a test leaves as they are."""

    def state():
        stat = example.stat()
        return stat.st_mtime_ns, stat.st_ctime_ns, stat.st_size, stat.st_blocks

    before = state()
    yield example
    assert state() == before


RECORDED = re.findall(
    r"<!-- recorded: flashtrain (device .*?) -->\n```\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL
)


@pytest.mark.parametrize(("command", "text"), RECORDED, ids=lambda part: part.split("\n")[0])
def test_the_page_shows_what_the_command_prints(command, text, unchanged, monkeypatch, capsys):
    monkeypatch.chdir(unchanged.parent)
    assert main(command.split()) == 0

    def lasting(lines):
        """All but the random serial number, and what the file system has allocated."""
        return re.sub(r"serial \w+|\S+ \w+ of", "", lines)

    assert lasting(capsys.readouterr().out) == lasting(text)


def test_each_section_is_recorded():
    assert {command.split()[1] for command, _ in RECORDED} >= {*SECTIONS} - {"catalog"}


@pytest.mark.parametrize("section", [*SECTIONS, None])
def test_documents(section, unchanged, capsys):
    assert main(["device", *([section] if section else []), str(unchanged), "--json", "--scrub"]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert document["image"]["configuration"] == "small" and document["scrub"]["all"]["read"] > 0
    names = {section} if section else {*SECTIONS}
    assert {*SECTIONS} & {*document} == names
    assert "Traceback" not in err and "scrub" in err


@pytest.mark.parametrize("words", ["clock_seconds", "endurance_used", "percentage_used", "most_corrected"])
def test_the_page_names_keys_of_the_document(words, example, capsys):
    assert f"`{words}`" in PAGE.read_text(encoding="utf-8")
    assert main(["device", str(example), "--json", "--scrub"]) == 0
    assert f'"{words}"' in capsys.readouterr().out


def test_a_picture(unchanged, tmp_path, capsys):
    picture = tmp_path / "zones.png"
    assert main(["device", "zones", str(unchanged), "--figure", str(picture)]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG") and str(picture) in capsys.readouterr().out


def test_a_scrub_with_a_lost_page_ends_with_1(tmp_path, capsys):
    path = tmp_path / "flash.img"
    with open_device("tiny", image=path) as device:
        device.stream("trained").append(np.ones(100))
        assert device.link.image is not None
        at = device.link.image.layout.cells(0, 0)
    with path.open("r+b") as file:
        file.seek(at)
        file.write(b"\x55")
    assert main(["device", "health", str(path)]) == 0
    assert main(["device", "health", str(path), "--scrub"]) == 1
    assert re.search(r"^trained +0 .* 1$", capsys.readouterr().out, re.MULTILINE)


def _write(path, at, raw):
    with path.open("r+b") as file:
        file.seek(at)
        file.write(raw)


@pytest.mark.parametrize("section", [*SECTIONS, None])
@pytest.mark.parametrize(
    ("at", "raw", "message", "content"),
    [
        (CLOCK_AT, sealed(CLOCK, CLOCK_AT, float("inf")), "the clock: seconds is inf; expected", True),
        (NODE_AT, sealed(NODE, NODE_AT, b"[" * 4000), "table of streams .*; its content is not known", False),
    ],
    ids=["clock", "node"],
)
def test_damage_is_named_and_all_else_is_reported(section, at, raw, message, content, tmp_path, capsys):
    path = tmp_path / "flash.img"
    with open_device("tiny", node="store", image=path) as device:
        device.catalog["weights"] = np.ones(100)
        device.shutdown()
    _write(path, at, raw)
    before = path.read_bytes()
    assert main(["device", *([section] if section else []), str(path)]) == 1
    out, err = capsys.readouterr()
    assert err.count("\n") == 1 and re.search(f"^flashtrain device: {path}.*{message}", err)
    known = {
        "catalog": "weights",
        "zones": "CLOSED",
        "streams": "trained",
        "journal": "number",
        None: "CLOSED",
    }
    part = "bad blocks" if section == "health" else known[section] if content else "not known"
    assert part in out and path.read_bytes() == before
    assert main(["device", str(path), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert len(document["damage"]) == 1 and (document["zones"] is not None) is content


def _text(path):
    path.write_text("a text, and no image of a flash at all\n" * 10, encoding="utf-8")


def _truncated(path):
    open_image(path, preset("tiny")).close()
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def _newer(path):
    open_image(path, preset("tiny")).close()
    with path.open("r+b") as file:
        fields = opened(HEADER, HEADER_AT, file.read(HEADER.size))
        assert fields is not None
        header = ImageHeader._make(fields)
        file.seek(0)
        file.write(sealed(HEADER, HEADER_AT, *header._replace(version=99)))


def _unused(path):
    open_image(path, preset("tiny")).close()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: None, "no such file; expected an image"),
        (Path.mkdir, "not a regular file; expected an image|Is a directory"),
        (_text, "begins with b'a text, '; expected b'FLASHIMG'"),
        (lambda path: path.touch(), "begins with b''; expected b'FLASHIMG'"),
        (_truncated, r"bytes; expected [\d,]+, as its geometry needs"),
        (_newer, "format version 99; expected at most 1"),
        (_unused, "no device has used it yet; expected a table of streams"),
    ],
)
def test_a_file_that_cannot_be_inspected(make, message, tmp_path, capsys):
    path = tmp_path / "flash.img"
    make(path)
    before = path.read_bytes() if path.is_file() else None
    assert main(["device", "zones", str(path)]) == 2
    out, err = capsys.readouterr()
    assert not out and err.count("\n") == 1 and re.search(f"^flashtrain device: .*({message})", err)
    assert (path.read_bytes() if path.is_file() else None) == before


def test_a_locked_image(tmp_path, capsys):
    path = tmp_path / "flash.img"
    with open_device("tiny", image=path):
        assert main(["device", str(path)]) == 2
    assert re.fullmatch(r"flashtrain device: .*another device has it open.*\n", capsys.readouterr().err)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["zones"], "zones: no such file; expected FILE behind the section"),
        (["--link", "rtl"], "expected --scrub beside it"),
        (["--node", "activation"], "node 'activation' has"),
    ],
)
def test_mistakes(arguments, message, unchanged, monkeypatch, tmp_path, capsys):
    monkeypatch.chdir(tmp_path)
    file = [] if arguments == ["zones"] else [str(unchanged)]
    assert main(["device", *arguments, *file]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and message in err


def test_an_unknown_section(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["device", "smart", "flash.img"])
    assert re.fullmatch(r"flashtrain device: .*invalid choice: 'smart'.*\n", capsys.readouterr().err)
