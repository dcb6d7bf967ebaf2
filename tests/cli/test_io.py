"""`flashtrain io`: job files, options, text, documents, figures, sweeps and exit codes."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from flashtrain.cli import links
from flashtrain.cli.main import main
from flashtrain.host import FunctionalLink
from flashtrain.io import OPTIONS
from flashtrain.io.fio import standings

ROOT = Path(__file__).parents[2]
EXAMPLE, PAGE = ROOT / "examples" / "io" / "mixed.fio", ROOT / "docs" / "io.md"
JOBS = """\
[global]
size=8k
bs=1k
[appends]
rw=append
verify=crc32c
[reads]
rw=randread
stream=trained
port=host
iodepth=2
"""
TINY = ["--preset", "tiny", "--link", "model"]


@pytest.fixture
def jobs(tmp_path):
    path = tmp_path / "jobs.fio"
    path.write_text(JOBS, encoding="utf-8")
    return str(path)


def test_a_job_file(jobs, tmp_path, capsys):
    assert main(["io", jobs, *TINY, "--output", str(tmp_path / "figures"), "--json"]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    appends, reads = document["jobs"]
    assert (appends["jobname"], appends["write"]["total_ios"], appends["read"]["total_ios"]) == (
        "appends",
        8,
        0,
    )
    assert appends["verify"] == {"checked": 16, "wrong": 0, "blocks": []}
    assert (reads["read"]["io_bytes"], reads["verify"], reads["job options"]["iodepth"]) == (8192, None, 2)
    clat = reads["read"]["clat_ns"]
    assert clat["N"] == 8 and 0 < clat["min"] <= clat["percentile"]["50.000000"] <= clat["max"]
    assert reads["read"]["bw_bytes"] == pytest.approx(8192 / reads["read"]["runtime"] * 1e3)
    assert sum(reads["latency_us"].values()) + sum(reads["latency_ns"].values()) == pytest.approx(100)
    for name in document["files"]:
        assert Path(name).read_bytes().startswith(b"\x89PNG")
    assert [Path(name).name for name in document["files"]] == ["bandwidth.png", "latency.png"]
    assert "  read: IOPS=" in err and "verify: crc32c, 16 logical blocks read, all as written" in err


def test_the_text_has_the_values_of_the_document(jobs, capsys):
    assert main(["io", jobs, *TINY, "--json"]) == 0
    out, text = capsys.readouterr()
    read = json.loads(out)["jobs"][1]["read"]
    clat = read["clat_ns"]
    assert f"(8KiB/{read['runtime']:.3f}msec)" in text
    assert f"clat (nsec): min={clat['min']:.5g}, max={clat['max']:.5g}, avg={clat['mean']:.2f}" in text
    for key, value in clat["percentile"].items():
        assert re.search(rf"{float(key):.2f}th=\[ *{value:.2f}\]", text)
    assert "   READ: bw=" in text and "  WRITE: bw=" in text


def test_a_link_without_time_verifies(jobs, capsys):
    assert main(["io", jobs, "--preset", "tiny", "--link", "functional"]) == 0
    out = capsys.readouterr().out
    assert "link functional has no time: no rate, no runtime, no bandwidth and no latency" in out
    assert "16 logical blocks read, all as written" in out and "IOPS" not in out


def test_a_wrong_bit_is_exit_code_1(jobs, capsys, monkeypatch):
    def flipping(config, memory_bytes):
        link = FunctionalLink(config, memory_bytes)
        program = link._flash.program

        def flip(block, offset, data, stamp):
            """Flip a bit of the appended logical block 5."""
            data = data.copy()
            for page in data:
                if page[:4].tobytes() == b"ftio" and page[8:16].tobytes() == (5).to_bytes(8, "little"):
                    page[100] ^= 0x10
            program(block, offset, data, stamp)

        monkeypatch.setattr(link._flash, "program", flip)
        return link

    kind = replace(links.LINKS["functional"], factory=flipping)
    monkeypatch.setitem(links.LINKS, "functional", kind)
    assert main(["io", jobs, "--preset", "tiny", "--link", "functional", "--json"]) == 1
    out, err = capsys.readouterr()
    (block,) = json.loads(out)["jobs"][0]["verify"]["blocks"]
    assert (block["offset"], block["lba"], block["byte"], block["bit"]) == (5 * 512, 5, 100, 4)
    assert "appends: block at offset 2560, LBA 5 of stream 'activations': bit 4 of byte 100 is " in err


def test_a_sweep(jobs, tmp_path, capsys):
    sweep = ["--sweep", "iodepth=1..4", "--output", str(tmp_path)]
    assert main(["io", jobs, *TINY, *sweep, "--json"]) == 0
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert [point["iodepth"] for point in document["points"]] == ["1", "2", "4"]
    depths = [[job["job options"]["iodepth"] for job in point["jobs"]] for point in document["points"]]
    assert depths == [[1, 1], [2, 2], [4, 4]]
    rows = [line.split() for line in err.splitlines() if line[:1].isdigit()]
    assert [row[:2] for row in rows] == [[n, way] for n in ("1", "2", "4") for way in ("read", "write")]
    rates = [float(row[2].replace(",", "")) for row in rows if row[1] == "read"]
    assert rates == sorted(rates) and rates[2] > rates[0]
    assert (tmp_path / "iodepth.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--rw=randwrite"], "command line rw: is 'randwrite': a stream is only appended to; expected write"),
        (["--rw=read", "--write_iolog=x"], "command line write_iolog: is refused: a recording is an option"),
        (["--rw=read", "--drive=ssd", "--image=x"], "--image: is of the flash memory system; leave out"),
        (["--rw=read", "--drive=ssd"], "geometry.channels is 2; expected at least 4"),
        (["--size=8k", "--bs=1k", "--iodepth=0"], "command line iodepth: is '0'; expected an integer from 1"),
        (["--size=8k", "--bs=100"], "command line bs: is 100; expected a multiple of 512"),
        (["--size=8k", "--sweep=iodepth=1..x"], "--sweep iodepth: is 'x'; expected an integer"),
        (["FILE", "--name=x"], "command line name: is set beside a job file"),
        (["FILE", "--sweep=iodepth=1,2", "--link=functional"], "--sweep: measures time; link functional has"),
        (["FILE", "--sweep=numjobs=1,8"], "jobs.fio:2: [global] size: is 65536 bytes over all jobs"),
        (["none.fio"], "none.fio: cannot be read: No such file"),
    ],
)
def test_mistakes_are_one_line(arguments, message, jobs, capsys):
    arguments = [jobs if each == "FILE" else each for each in arguments]
    assert main(["io", "--preset", "tiny", "--link", "model", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert err.startswith("flashtrain io: ") and message in err


def test_the_page_has_the_example_and_its_output(capsys):
    command = "io examples/io/mixed.fio --link model"
    page = PAGE.read_text(encoding="utf-8")
    (recorded,) = re.findall(rf"<!-- recorded: flashtrain {command} -->\n```\n(.*?)```", page, re.DOTALL)
    assert main(["io", str(EXAMPLE), "--link", "model"]) == 0
    assert capsys.readouterr().out == recorded
    assert f"```ini\n{EXAMPLE.read_text(encoding='utf-8')}```" in page


def test_the_page_has_every_option_of_fio():
    page = PAGE.read_text(encoding="utf-8")
    (table,) = re.findall(
        r"<!-- begin: python -m flashtrain.io.fio -->\n(.*?)\n<!-- end -->", page, re.DOTALL
    )
    assert table == standings()


def test_the_page_has_every_option():
    table = PAGE.read_text(encoding="utf-8").split("## Options", 1)[1].split("##", 1)[0]
    named = {name for line in table.splitlines() if line.startswith("| `") for name in _names(line)}
    assert named == set(OPTIONS)


def _names(line):
    return re.findall(r"`(\w+)`", line.split("|")[1])
