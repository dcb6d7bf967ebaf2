"""Lines of block traces: good ones, and the message for bad ones."""

import bz2
import gzip
import lzma
import re
import tarfile

import pytest

from flashtrain.reading import InputError
from flashtrain.spec import ConfigError
from flashtrain.traces import (
    FORMATS,
    WRITABLE,
    Devices,
    Operation,
    TraceError,
    TraceRecord,
    load_trace,
    pattern_format,
    save_trace,
)
from flashtrain.traces.files import records_of

READ, WRITE, TRIM, FLUSH = Operation
RECORDS = [
    TraceRecord(0, 0, 8, WRITE),
    TraceRecord(2_000, 8, 16, READ),
    TraceRecord(3_000, 0, 0, FLUSH),
    TraceRecord(1_500_000_000, 64, 1024, TRIM),
]
BLKTRACE = """\
  8,0    3        1     0.000000000   697  Q   W 223490 + 8 [kjournald]
  8,0    3        2     0.000001829   697  G   W 223490 + 8 [kjournald]
  8,0    3        3     0.000005000   697  D  WS 223490 + 8 [kjournald]
  8,0    3        4     0.000007000   697  D  FN [kworker/3:1]
  8,0    1        1     0.000006000   701  D   R 64 + 16 [cat]
  8,0    3        5     0.000008000   697  D FWFS 8 + 8 [jbd2]
  8,0    3        6     0.000009000   697  D   N 0 [hdparm]
  8,0    3        7     1.000009000   697  D  DS 128 + 1024 [fstrim]
  8,0    3        8     1.000010000   697  C  DS 128 + 1024 [0]
CPU3 (8,0):
 Reads Queued:           0,        0KiB  Writes Queued:           1,        4KiB
"""


def load(tmp_path, text, name=None, devices=Devices()):
    path = tmp_path / "a.trace"
    path.write_text(text, encoding="utf-8")
    return load_trace(path, name, devices)


def listed(trace):
    return [record[:4] for record in records_of(trace)]


def test_fio_version_2(tmp_path):
    trace = load(
        tmp_path,
        "fio version 2 iolog\n/dev/x add\n/dev/x open\n/dev/x write 0 4096\n\n/dev/x wait 250 0\n"
        "/dev/x read 512 1024\n/dev/x sync 0 0\n/dev/x trim 4096 8192\n/dev/x close\n",
    )
    assert listed(trace) == [
        (0, 0, 8, WRITE), (250_000, 1, 2, READ), (250_000, 0, 0, FLUSH), (250_000, 8, 16, TRIM),
    ]  # fmt: skip
    assert trace.lines.tolist() == [4, 7, 8, 9]


def test_fio_version_3(tmp_path):
    trace = load(tmp_path, "fio version 3 iolog\n0 f add\n1 f open\n7 f write 0 512\n9 f datasync 0 0\n")
    assert listed(trace) == [(7_000, 0, 1, WRITE), (9_000, 0, 0, FLUSH)]


def test_blktrace(tmp_path):
    issued, queued = load(tmp_path, BLKTRACE), load(tmp_path, BLKTRACE, "blktrace-queued")
    assert listed(issued) == [
        (5_000, 223490, 8, WRITE),
        (6_000, 64, 16, READ),
        (7_000, 0, 0, FLUSH),
        (8_000, 8, 8, WRITE),
        (1_000_009_000, 128, 1024, TRIM),
    ]
    assert issued.lines.tolist() == [3, 5, 4, 6, 8]  # in the order of their times
    assert listed(queued) == [(0, 223490, 8, WRITE)]


def test_mqsim(tmp_path):
    trace = load(tmp_path, "4851300 1 524288 16 0\n4864300 1 524304 16 1\n")
    assert listed(trace) == [(4851300, 524288, 16, WRITE), (4864300, 524304, 16, READ)]
    assert (trace.end, trace.bytes_of(READ)) == (524320, 8192)


# Two commands, a read of 8 KiB at 1 MiB and 250 us later a write of 4 KiB at 0, as each publisher has them.
PUBLISHED = {
    "msr": "128166372003061629,hm,0,Read,1048576,8192,1000\n128166372003064129,hm,0,Write,0,4096,99\n",
    "alibaba": "419,R,1048576,8192,1577808000000000\n419,W,0,4096,1577808000000250\n",
    "tencent": "1538323200,2048,16,0,1063\n1538323200,0,8,1,1063\n",
    "spc": "0,2048,8192,R,0.5\n0,0,4096,w,0.50025\n",
    "mqsim": "500000 3 2048 16 1\n750000 3 0 8 0\n",
}
HEADERS = {
    "alibaba": "device_id,opcode,offset,length,timestamp\n",
    "tencent": "Timestamp,Offset,Size,IOType,VolumeID\n",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_published_format(tmp_path, name):
    """The first line decides; the names of columns may stand above; calendars begin at 0."""
    first, second = listed(load(tmp_path, HEADERS.get(name, "") + PUBLISHED[name]))
    assert (first[1:], second[1:]) == ((2048, 16, READ), (0, 8, WRITE))
    assert second[0] - first[0] == (0 if name == "tencent" else 250_000)
    assert first[0] == (500_000_000 if name == "spc" else 500_000 if name == "mqsim" else 0)


@pytest.mark.parametrize("packed", ["gz", "bz2", "xz", "tar.gz"])
def test_compressed_as_they_are_published(tmp_path, packed):
    path, content = tmp_path / f"a.{packed}", PUBLISHED["msr"].encode()
    if packed == "tar.gz":
        (tmp_path / "hm_0.csv").write_bytes(content)
        with tarfile.open(path, "w:gz") as archive:
            archive.add(tmp_path / "hm_0.csv", "hm_0.csv")
    else:
        path.write_bytes({"gz": gzip, "bz2": bz2, "xz": lzma}[packed].compress(content))
    assert len(load_trace(path)) == 2
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(InputError, match=r"a\..*: is damaged: "):
        load_trace(path)


def test_an_archive_of_two_files(tmp_path):
    with tarfile.open(tmp_path / "two.tar", "w") as archive:
        for name in ("a.csv", "b.csv"):
            (tmp_path / name).write_text(PUBLISHED["spc"], encoding="utf-8")
            archive.add(tmp_path / name, name)
    with pytest.raises(InputError, match=r"two.tar: holds 'a.csv', 'b.csv'; expected one file"):
        load_trace(tmp_path / "two.tar")


def test_several_devices(tmp_path):
    """One by choice, or all behind each other at multiples of 1 MiB; a limit takes the first commands."""
    text = "1 0 100 8 0\n2 7 0 3000 1\n3 0 0 4 0\n4 9 5 1 0\n"
    assert listed(load(tmp_path, text, None, Devices("7"))) == [(2, 0, 3000, READ)]
    trace = load(tmp_path, text, None, Devices(spread=True))
    assert trace.devices == {"0": 0, "7": 2048, "9": 2048 + 4096}
    assert listed(trace) == [(1, 100, 8, WRITE), (2, 2048, 3000, READ), (3, 0, 4, WRITE), (4, 6149, 1, WRITE)]
    assert len(load(tmp_path, text, None, Devices(spread=True, most=3))) == 3
    with pytest.raises(TraceError, match="no command of mqsim of device '8'; expected at least one"):
        load(tmp_path, text, None, Devices("8"))


def test_kinds_that_blkparse_prints(tmp_path):
    """Flushes with and without a range, and commands without sectors, of kernels old and new."""
    kinds = ["FWS 0 + 0", "FN", "F 0 + 0", "R 0 + 0", "RA 8 + 8", "WFSM 16 + 8", "DS 0 + 64"]
    lines = [f"8,0 0 {n} 0.{n:09} 1 D {kind} [a]\n" for n, kind in enumerate(kinds)]
    found = [record[1:] for record in listed(load(tmp_path, "".join(lines)))]
    assert found == [(0, 0, FLUSH)] * 3 + [(8, 8, READ), (16, 8, WRITE), (0, 64, TRIM)]


def test_a_format_by_a_regular_expression(tmp_path):
    pattern = r"^(?P<s>\d+)\.(?P<ps>\d{12}) (?P<device>\S+) (?P<op>\w+) (?P<lba>\d+)\+(?P<bytes>\d+)"
    text = "# a head\n3.000000500000 sda READ 64+8192\n3.000001000000 sda flush 0+0\n"
    text += "4.000000000000 sda w 8+512\n"
    assert listed(load(tmp_path, text, pattern_format(pattern))) == [
        (3_000_000_500, 64, 16, READ), (3_000_001_000, 0, 0, FLUSH), (4_000_000_000, 8, 1, WRITE),
    ]  # fmt: skip
    for wrong, message in (
        ("(", "is no regular expression: "),
        (r"(?P<op>\w) (?P<lba>\d+)", "has no group sectors or bytes, or both; expected one"),
        (r"(?P<op>\w) (?P<lba>\d+) (?P<offset>\d+) (?P<bytes>\d+)", "has no group lba or offset, or both"),
        (r"(?P<op>\w) (?P<place>\d+)", "has a group 'place'; expected device, op, lba"),
    ):
        with pytest.raises(ConfigError, match=re.escape(message)):
            pattern_format(wrong)


@pytest.mark.parametrize("name", WRITABLE)
def test_what_was_written_is_read(tmp_path, name):
    path = tmp_path / "a.trace"
    kept = [record for record in RECORDS if record.op in FORMATS[name].operations]
    assert save_trace(path, RECORDS, name) == len(kept)
    read = listed(load_trace(path, "blktrace" if name == "blktrace-queued" else None))
    assert read == [record[:4] for record in kept]


V3 = "fio version 3 iolog\n0 f add\n"
LINE = "8,0 3 1 0.000000000 697 D "


@pytest.mark.parametrize(
    ("text", "name", "line", "message"),
    [
        ("fio version 4 iolog\n", None, 1, "expected 'fio version 2 iolog' or 'fio version 3 iolog'"),
        (V3 + "5 f write 0\n", None, 3, "expected TIME FILE ACTION, or this and OFFSET LENGTH"),
        (V3 + "5 f erase 0 512\n", None, 3, "action 'erase' with 2 numbers behind it; expected one of add, "),
        (V3 + "x f write 0 512\n", None, 3, "the time is 'x'; expected an integer of at least 0"),
        (V3 + "5 f write 100 512\n", None, 3, "the offset is 100 bytes; expected a multiple of 512"),
        (V3 + "5 f write 0 0\n", None, 3, "the length is '0'; expected an integer of at least 1"),
        (
            V3 + "5 f write 0 512\n5 g write 0 512\n",
            None,
            4,
            "a second device, g; expected f alone, the choice of one, or all behind each other",
        ),
        (V3, None, None, "no command of fio; expected at least one"),
        ("", None, None, "no command of blktrace; expected at least one"),
        ("1 0 8 8 0\n1 0 8 8 2\n", None, 2, "type '2'; expected 0 (write) or 1 (read)"),
        ("1 0 8 8 0\n1 0 8 8\n", None, 2, "4 words; expected 5: TIME DEVICE LBA SECTORS TYPE"),
        ("1 0 8 8 0\n1 1 8 8 0\n", None, 2, "a second device, 1; expected 0 alone"),
        ("1 0 -8 8 0\n", "mqsim", 1, "the LBA is '-8'; expected an integer of at least 0"),
        (LINE + "W 8 + 8 [a]\nnonsense\n", None, 2, "'nonsense'; expected blkparse's DEVICE CPU SEQUENCE"),
        (LINE + "W 8 8 [a]\n", None, 1, "'8 8 [a]' behind W; expected SECTOR + SECTORS"),
        (PUBLISHED["spc"] + "0,0,4096,x,1\n", None, 3, "Opcode is 'x'; expected one of r, w"),
        (PUBLISHED["spc"] + "0,0,4096\n", None, 3, "3 columns; expected ASU,LBA,Size,Opcode,Timestamp"),
        (PUBLISHED["spc"] + "0,0,4096,w,now\n", None, 3, "the time is 'now'; expected seconds, such as 12.3"),
        (LINE + "X 8 + 8 [a]\n", None, 1, "kind 'X'; expected R, W, D or F, and letters behind it"),
    ],
)
def test_a_bad_line(tmp_path, text, name, line, message):
    with pytest.raises(TraceError) as error:
        load(tmp_path, text, name)
    assert str(error.value).startswith(f"{tmp_path / 'a.trace'}{f':{line}' if line else ''}: ")
    assert message in str(error.value)


def test_bytes_that_are_no_text(tmp_path):
    path = tmp_path / "a.trace"
    path.write_bytes(b"fio \xff")
    with pytest.raises(InputError, match=r"a\.trace:1: not UTF-8 at byte 4 of the line; expected text"):
        load_trace(path)


def test_an_unknown_format(tmp_path):
    with pytest.raises(ConfigError, match="format is 'csv'; expected one of fio, blktrace"):
        load(tmp_path, "", "csv")
    with pytest.raises(ConfigError, match="format 'msr' is read only; expected one of fio, blktrace"):
        save_trace(tmp_path / "a", RECORDS, "msr")
