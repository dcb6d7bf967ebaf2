"""Lines of block traces: good ones, and the message for bad ones."""

import pytest

from flashtrain.reading import InputError
from flashtrain.spec import ConfigError
from flashtrain.traces import FORMATS, Operation, TraceError, TraceRecord, load_trace, save_trace
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


def load(tmp_path, text, name=None):
    path = tmp_path / "a.trace"
    path.write_text(text)
    return load_trace(path, name)


def listed(trace):
    return list(records_of(trace))


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


@pytest.mark.parametrize("name", FORMATS)
def test_what_was_written_is_read(tmp_path, name):
    path = tmp_path / "a.trace"
    kept = [record for record in RECORDS if record.op in FORMATS[name].operations]
    assert save_trace(path, RECORDS, name) == len(kept)
    assert listed(load_trace(path, "blktrace" if name == "blktrace-queued" else None)) == kept


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
        (V3 + "5 g write 0 512\n", None, 3, "a second file, 'g'; expected 'f' alone"),
        (V3, None, None, "no command of fio; expected at least one"),
        ("", None, None, "no command of blktrace; expected at least one"),
        ("1 0 8 8 0\n1 0 8 8 2\n", None, 2, "type '2'; expected 0 (write) or 1 (read)"),
        ("1 0 8 8 0\n1 0 8 8\n", None, 2, "4 words; expected 5: TIME DEVICE LBA SECTORS TYPE"),
        ("1 0 8 8 0\n1 1 8 8 0\n", None, 2, "a second device, 1; expected 0 alone"),
        ("1 0 -8 8 0\n", "mqsim", 1, "the LBA is '-8'; expected an integer of at least 0"),
        (LINE + "W 8 + 8 [a]\nnonsense\n", None, 2, "'nonsense'; expected blkparse's DEVICE CPU SEQUENCE"),
        (LINE + "W 8 8 [a]\n", None, 1, "'8 8 [a]' behind W; expected SECTOR + SECTORS"),
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
