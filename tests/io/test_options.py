"""Options and job files of `flashtrain io`: their values, and one line for each mistake."""

import re

import pytest

from flashtrain.io import JobError, check_jobs, command_line_job, load_jobs
from flashtrain.io.job import Rates
from flashtrain.io.options import OPTIONS
from flashtrain.io.patterns import APPEND, MIX, RANDOM_READ, READ
from flashtrain.io.sweep import sweep_of
from flashtrain.spec import Port, preset
from flashtrain.spec.streams import SINGLE_NODE

FILE = """\
; a comment
[global]
bs=8k
size = 1m
# another
[first]
rw=append
[global]
iodepth=4
[second]
rw=randread
bs=4k
time_based
runtime=2ms
"""


def write(tmp_path, text):
    path = tmp_path / "jobs.fio"
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "option, text, value",
    [
        ("size", "4096", 4096), ("size", "4k", 4096), ("bs", "1M", 1 << 20), ("bs", "64kb", 65536),
        ("size", "3g", 3 << 30), ("size", "1t", 1 << 40),
        ("runtime", "10us", 10_000), ("runtime", "2ms", 2_000_000), ("runtime", "3", 3 * 10**9),
        ("runtime", "1.5msec", 1_500_000), ("ramp_time", "1m", 60 * 10**9), ("ramp_time", "250ns", 250),
        ("rate", "100m", Rates(100 << 20, 100 << 20)), ("rate", "1m,2m", Rates(1 << 20, 2 << 20)),
        ("rate", ",2m", Rates(None, 2 << 20)), ("rate_iops", "500,", Rates(500, None)),
        ("rw", "write", APPEND), ("rw", "readwrite", MIX), ("port", "host", Port.HOST),
        ("verify", "crc32c", True), ("verify", "0", False), ("time_based", "", True),
        ("time_based", "0", False),
    ],
)  # fmt: skip
def test_values(option, text, value):
    assert OPTIONS[option].value(text, "here") == value


def test_a_file(tmp_path):
    first, second = load_jobs(write(tmp_path, FILE), {})
    assert (first.name, first.rw, first.bs, first.size, first.iodepth) == ("first", APPEND, 8192, 1 << 20, 1)
    assert (second.name, second.rw, second.bs, second.iodepth) == ("second", RANDOM_READ, 4096, 4)
    assert second.time_based and second.runtime == 2_000_000 and second.blocks == 256


def test_the_command_line_replaces_options_of_a_file(tmp_path):
    jobs = load_jobs(write(tmp_path, FILE), {"iodepth": "7", "bs": "16k"})
    assert [(job.iodepth, job.bs) for job in jobs] == [(7, 16384)] * 2
    job = command_line_job({"size": "1m"})
    assert (job.name, job.rw, job.bs) == ("read", READ, 4096)


@pytest.mark.parametrize(
    "text, message",
    [
        ("[a]\niodepht=4\n", r"jobs.fio: \[a\] iodepht: no such option; expected one of name, rw, bs, "),
        (
            "[global]\niodepth=0\n[a]\n",
            r"jobs.fio: \[global\] iodepth: is '0'; expected an integer from 1 to",
        ),
        ("[a]\nsize=4q\n", r"\[a\] size: is '4q'; expected a number of bytes above 0, such as 4k"),
        ("[a]\nsize=1m\nruntime=-1\n", r"\[a\] runtime: is '-1'; expected a time above 0, such as 10us"),
        ("[a]\nrw=randwrite\n", r"\[a\] rw: is 'randwrite'; expected one of append, read, .*only appended"),
        ("[a]\nport=left\n", r"\[a\] port: is 'left'; expected one of host, core"),
        ("[a]\nverify=md5\n", r"\[a\] verify: is 'md5'; expected crc32c, or 0 for none"),
        ("[a]\nrate=,\n", r"\[a\] rate: is ','; expected a number per second such as 100m, or two"),
        ("[a]\nbs=4k\n", r"\[a\] size: is missing; expected a number of bytes"),
        ("[a]\nsize=2k\n", r"\[a\] size: is 2048; expected at least bs, 4096"),
        ("[a]\nsize=1m\ntime_based\n", r"\[a\] runtime: is missing; expected a time, since time_based"),
        ("bs=4k\n", r"jobs.fio:1: 'bs=4k' before any section; expected \[NAME\]"),
        ("[a\n", r"jobs.fio:1: '\[a'; expected \[NAME\]"),
        ("[global]\nbs=4k\n", r"jobs.fio: has no job; expected a section besides \[global\]"),
    ],
)
def test_mistakes_of_files(tmp_path, text, message):
    with pytest.raises(JobError, match=message):
        load_jobs(write(tmp_path, text), {})


@pytest.mark.parametrize(
    "options, message",
    [
        ({"stream": "weigths"}, "command line stream: is 'weigths'; expected one of inputs, activations,"),
        ({"stream": "journal"}, "stream: is 'journal'; expected one of inputs"),
        ({"bs": "6k"}, "bs: is 6144; expected a multiple of 4096, a logical block of small"),
        ({"port": "host"}, "port: is host, which may not read stream 'activations'; expected core"),
        ({"rw": "append", "stream": "inputs"}, "port: is core, which may not append to .* expected host"),
        (
            {"size": "1g"},
            "size: is 1073741824 bytes over all jobs of stream 'activations'; expected at most 92",
        ),
        ({"size": "81m", "rw": "rw"}, r"expected at most 83886080, a zone of the ring aside"),
        ({"size": "8m", "numjobs": "12"}, "size: is 100663296 bytes over all jobs"),
        ({"iodepth": "1024", "numjobs": "4"}, "iodepth: takes queues of 8224 entries .* at most 4096"),
        (
            {"size": "32m", "bs": "32m", "iodepth": "256"},
            "iodepth: takes a tensor buffer of .* at most 21474",
        ),
    ],
)
def test_impossible_on_a_device(options, message):
    with pytest.raises(JobError, match=message):
        check_jobs([command_line_job({"size": "1m", **options})], preset("small"), SINGLE_NODE)


def test_values_of_a_sweep():
    assert sweep_of("iodepth=1..64").values == ("1", "2", "4", "8", "16", "32", "64")
    assert sweep_of("iodepth=3..20").values == ("3", "6", "12", "20")
    assert sweep_of("bs=4k..16k").values == ("4k", "8k", "16k")
    assert sweep_of("bs=512k..1m").values == ("512k", "1m")
    assert sweep_of("rw=read,randread").values == ("read", "randread")
    (job,) = sweep_of("bs=4k..8k").jobs([command_line_job({"size": "1m"})], "8k")
    assert job.bs == 8192


@pytest.mark.parametrize(
    "text, message",
    [
        ("iodepth", "--sweep: is 'iodepth'; expected OPTION=FIRST"),
        ("stream=a,b", "--sweep stream: cannot be swept; expected one of rw, bs, iodepth"),
        ("iodepth=8..2", "--sweep iodepth: is '8'..'2'; expected two numbers above 0, the lower one first"),
        ("rw=read..append", "--sweep rw: is 'read'..'append'; expected two numbers"),
        ("iodepth=1,x", "--sweep iodepth: is 'x'; expected an integer"),
    ],
)
def test_mistakes_of_sweeps(text, message):
    with pytest.raises(JobError, match=re.escape(message)):
        sweep_of(text)
