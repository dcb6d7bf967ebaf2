"""Options and job files of `flashtrain io`: their values, and one line for each mistake."""

import re
import subprocess
from shutil import which

import pytest

from flashtrain.io import JobError, command_line_job, jobs_for_flash, jobs_for_ssd, load_jobs
from flashtrain.io.block_sizes import BlockSizes, Sizes, one_size
from flashtrain.io.fio import ALIASES, IGNORED, REFUSED
from flashtrain.io.job import ExitWhat, Rates, Share, ZoneMode
from flashtrain.io.offsets import Distribution, Shape
from flashtrain.io.options import OPTIONS
from flashtrain.io.patterns import MIX, RANDOM_READ, RANDOM_TRIM, READ, WRITE, Pattern
from flashtrain.io.sweep import sweep_of
from flashtrain.spec import Port, preset
from flashtrain.spec.streams import SINGLE_NODE
from flashtrain.ssd import SsdConfig

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
    path.write_text(text, encoding="utf-8")
    return path


def both(size):
    return BlockSizes(one_size(size), one_size(size))


@pytest.mark.parametrize(
    "option, text, value",
    [
        ("size", "4096", 4096), ("size", "4k", 4096), ("bs", "1M", both(1 << 20)),
        ("bs", "64kb", both(65536)),
        ("size", "4ki", 4000), ("size", "0x1000", 4096), ("size", "50%", Share(50.0)), ("offset", "0", 0),
        ("bs", "4k,16k", BlockSizes(one_size(4096), one_size(16384))),
        ("bs", ",8k", BlockSizes(one_size(4096), one_size(8192))),
        ("blocksize_range", "4k-16k", BlockSizes(*[Sizes((4096, 8192, 12288, 16384), (0.25,) * 4)] * 2)),
        ("bssplit", "4k/25:8k/75", BlockSizes(*[Sizes((4096, 8192), (0.25, 0.75))] * 2)),
        ("bssplit", "4k/50:8k/:16k/", BlockSizes(*[Sizes((4096, 8192, 16384), (0.5, 0.25, 0.25))] * 2)),
        ("bssplit", "4k,8k/50:16k", BlockSizes(one_size(4096), Sizes((8192, 16384), (0.5, 0.5)))),
        ("random_distribution", "zipf:1.2", Distribution(Shape.ZIPF, 1.2)),
        ("random_distribution", "normal:5:0.25", Distribution(Shape.NORMAL, 5.0, 0.25)),
        ("thinktime", "20", 20_000), ("thinktime", "2ms", 2_000_000), ("rwmixwrite", "30", 70),
        ("rate", "1m,2m,3m", Rates(1 << 20, 2 << 20, 3 << 20)), ("rw", "randtrim", RANDOM_TRIM),
        ("bs", "4k,8k,16k", BlockSizes(*map(one_size, (4096, 8192, 16384)))),
        ("rate_process", "poisson", True),
        ("percentile_list", "99:50:99.9", (50.0, 99.0, 99.9)), ("zonemode", "zbd", ZoneMode.ZBD),
        ("verify", "md5", True), ("verify", "null", False),
        ("size", "3g", 3 << 30), ("size", "1t", 1 << 40),
        ("runtime", "10us", 10_000), ("runtime", "2ms", 2_000_000), ("runtime", "3", 3 * 10**9),
        ("runtime", "1.5msec", 1_500_000), ("ramp_time", "1m", 60 * 10**9), ("ramp_time", "250ns", 250),
        ("rate", "100m", Rates(100 << 20, 100 << 20)), ("rate", "1m,2m", Rates(1 << 20, 2 << 20)),
        ("rate", ",2m", Rates(None, 2 << 20)), ("rate_iops", "500,", Rates(500, None)),
        ("rw", "read:-8k", Pattern("read:-8k", READ.directions, step=-8192)),
        ("rw", "randread:8", Pattern("randread:8", READ.directions, random=True, run=8)),
        ("random_distribution", "zoned:50/5:30/15:20/",
         Distribution(Shape.ZONED, zones=((0.5, 0.05), (0.3, 0.2), (0.2, 1.0)))),
        ("startdelay", "0", 0), ("runtime", "0", None), ("rate", "0,1m", Rates(None, 1 << 20)),
        ("ba", "4k", 4096), ("filesize", "4k-1m", 1 << 20), ("exit_what", "all", ExitWhat.ALL),
        ("rw", "write", WRITE), ("rw", "append", WRITE), ("rw", "readwrite", MIX),
        ("port", "host", Port.HOST),
        ("verify", "crc32c", True), ("verify", "0", False), ("time_based", "", True),
        ("time_based", "0", False),
    ],
)  # fmt: skip
def test_values(option, text, value):
    assert OPTIONS[option].value(text, "here") == value


def test_a_file(tmp_path):
    first, second = load_jobs(write(tmp_path, FILE), {})
    assert (first.name, first.rw, first.bs, first.size) == ("first", WRITE, both(8192), 1 << 20)
    assert (second.name, second.rw, second.bs, second.iodepth) == ("second", RANDOM_READ, both(4096), 4)
    assert second.time_based and second.runtime == 2_000_000 and first.iodepth == 1


def test_the_command_line_replaces_options_of_a_file(tmp_path):
    jobs = load_jobs(write(tmp_path, FILE), {"iodepth": "7", "bs": "16k"})
    assert [(job.iodepth, job.bs) for job in jobs] == [(7, both(16384))] * 2
    job = command_line_job({"size": "1m"})
    assert (job.name, job.rw, job.bs) == ("read", READ, both(4096))


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "[a]\niodepht=4\n",
            r"jobs.fio:2: \[a\] iodepht: no such option; expected one of fio's, or of ",
        ),
        (
            "[global]\niodepth=0\n[a]\n",
            r"jobs.fio:2: \[global\] iodepth: is '0'; expected an integer from 1 to",
        ),
        ("[a]\nsize=4q\n", r"\[a\] size: is '4q'; expected a number of bytes above 0, such as 4k"),
        ("[a]\nsize=0%\n", r"\[a\] size: is '0%'; expected a percentage above 0, at most 100%"),
        ("[a]\nsize=1m\nruntime=-1\n", r"\[a\] runtime: is '-1'; expected a time such as 10us"),
        ("[a]\nrw=trimwrite\n", r"\[a\] rw: is 'trimwrite'; expected one of read, .* trim, randtrim"),
        ("[a]\nrw=reed:8\n", r"\[a\] rw: is 'reed:8'; expected one of read, write, "),
        ("[a]\nrw=read:x\n", r"\[a\] rw: is 'read:x'; expected a number of bytes"),
        ("[a]\nrw=randread:0\n", r"\[a\] rw: is 'randread:0'; expected an integer from 1 to"),
        ("[a]\n[b]\nwait_for=c\n", r"jobs.fio:3: \[b\] wait_for: is 'c'; expected the name of a job before"),
        ("[a]\nexit_what=me\n", r"exit_what: is 'me'; expected one of group, stonewall, all"),
        ("[a]\nrw_sequencer=x\n", r"rw_sequencer: is 'x'; expected sequential or identical"),
        ("[a]\nioengine=sg\nsg_write_mode=verify\n", r"sg_write_mode: is refused: verifications and copies"),
        ("[a]\nnfs_url=x\n", r"nfs_url: is refused: options of engines whose commands are not those of a"),
        ("[a]\nss=iops:10%\n", r"ss: is refused: a run ends by size, number_ios or runtime"),
        ("[a]\nport=left\n", r"\[a\] port: is 'left'; expected one of host, core"),
        ("[a]\nverify=best\n", r"\[a\] verify: is 'best'; expected crc32c or another method of fio"),
        ("[a]\nrate=,\n", r"\[a\] rate: is ','; expected a number per second such as 100m, or two"),
        ("[a]\nbs=4k,4k,4k,4k\n", r"\[a\] bs: .* expected at most three values: of reads, of writes"),
        ("[a]\nbssplit=4k/60:8k/50\n", r"\[a\] bssplit: .* percentages that add up to 100; .* up to 110"),
        ("[a]\nbssplit=4k/x\n", r"\[a\] bssplit: .* expected percentages such as 4k/30:64k/70"),
        ("[a]\nbsrange=4k-1t\n", r"\[a\] blocksize_range: .* a range of at most 256 multiples"),
        ("[a]\nrandom_distribution=zone\n", r"random_distribution: .* expected random, zipf:THETA, "),
        ("[a]\nrandom_distribution=zoned:50/50\n", r"with sizes in %, and shares that add up to 100"),
        ("[a]\nrandom_distribution=zoned:9/60:91/60\n", r"with sizes in % that add up to at most 100"),
        ("[a]\nrandom_distribution=zoned_abs:99/x:1/\n", r"SHARE/SIZE:... .* with sizes in bytes"),
        ("[a]\nrandom_distribution=zipf:1\n", r"expected zipf:VALUE with a value above 0 .* and not 1"),
        (
            "[a]\nrandom_distribution=pareto:0.2:3\n",
            r"expected pareto:VALUE:PEAK with a peak from 0 to 1",
        ),
        ("[a]\nzonemode=striped\n", r"zonemode: is 'striped'; expected one of none, zbd, strided"),
        ("[a]\nzonemode=strided\n", r"zonesize: is missing; expected bytes, since zonemode is strided"),
        ("[a]\nzonemode=zbd\nzoneskip=4k\n", r"jobs.fio:3: \[a\] zoneskip: is set; expected strided zones"),
        ("[a]\npercentile_list=x\n", r"percentile_list: is 'x'; expected at most 20 percentages"),
        ("[a]\nioengine=rdma\n", r"ioengine: is 'rdma': its commands are not those of a block device"),
        ("[a]\nkb_base=1000\n", r"kb_base: is refused: 4k is 4096 bytes, as in fio by default"),
        ("[a]\nread_iolog=x\n", r"read_iolog: is refused: a trace has a command of its own: .* ssd replay"),
        ("[a]\nsize=${NO_SUCH_VARIABLE_OF_FIO}\n", r"size: \$\{NO_SUCH_VARIABLE_OF_FIO\} is not set in the"),
        ("[a]\ninclude other.fio\n", r"jobs.fio:2 include: no file '.*other.fio'"),
        ("[global]\nsize=2k\n[a]\n", r"jobs.fio:2: \[global\] size: is 2048"),
        ("[a]\nsize=2k\n", r"\[a\] size: is 2048; expected at least bs, 4096"),
        (
            "[a]\nsize=1m\ntime_based\nruntime=0\n",
            r"jobs.fio:4: \[a\] runtime: is missing; expected a time, since time_based",
        ),
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
        (
            {"rw": "randwrite"},
            "rw: is 'randwrite': a stream is only appended to; expected write, zonemode=zbd",
        ),
        ({"rw": "trim"}, "rw: is 'trim': zones are reset whole; expected --drive ssd for trims"),
        ({"rw": "write", "zonesize": "8k"}, "zonesize: is set: a stream is written in order; expected"),
        ({"zonesize": "6k"}, "zonesize: is 6144; expected a multiple of 4096, a logical block of small"),
        ({"zonesize": "2m"}, "zonerange: is 2097152; expected at most size, 1048576"),
        ({"rw": "write:4k"}, "rw: is 'write:4k': a stream is written in order; expected no step"),
        ({"rw": "read:1k"}, "rw: is 'read:1k'; expected a step of a multiple of 4096, a logical block of"),
        ({"ba": "6k"}, "ba: is 6144; expected a multiple of 4096, a logical block of small"),
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
        jobs_for_flash([command_line_job({"size": "1m", **options})], preset("small"), SINGLE_NODE)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"zonemode": "zbd"}, "zonemode: is 'zbd'; expected none: the drive has no zones"),
        ({"bs": "6k"}, "bs: is 6144; expected a multiple of 4096, a page of small_ssd"),
        ({"size": "1t"}, "size: is 1099511627776 bytes over all files; expected at most"),
        ({"offset": "1t"}, "offset: is up to 1099511627776; expected less than"),
        (
            {"rw": "trim", "time_based": "1", "runtime": "1ms"},
            "time_based: is set, and a trim takes no time; expected a rate or a thinktime",
        ),
        ({"offset": "1000"}, "offset: expected multiples of 4096, a page of small_ssd"),
    ],
)
def test_impossible_on_conventional_drives(options, message):
    drives = SsdConfig.of(preset("small"), 1, over_provisioning=0.3)
    with pytest.raises(JobError, match=message):
        jobs_for_ssd([command_line_job({"size": "1m", **options})], drives)


def test_sizes_that_a_file_leaves_out():
    """As in fio a job without a size takes the device: here, its share of what is free."""
    config = preset("small")
    zone = config.geometry.zone_capacity * config.geometry.page_bytes
    room = zone * len(SINGLE_NODE.zones(config.geometry.zones)[2])
    (whole,) = jobs_for_flash([command_line_job({})], config, SINGLE_NODE)
    assert whole.size == room
    options = {"rw": "write"}
    jobs = [command_line_job({"numjobs": "2", **options}), command_line_job({"size": "25%", **options})]
    halves, quarter = jobs_for_flash(jobs, config, SINGLE_NODE)
    assert halves.size == room // 3 // 4096 * 4096 and quarter.size == room // 12 // 4096 * 4096
    drives = SsdConfig.of(config, 1, over_provisioning=0.3)
    assert command_line_job({"filesize": "64k"}).size == 65536
    assert command_line_job({"size": "1m", "filesize": "64k"}).size == 1 << 20
    assert command_line_job({"size": "1m", "fill_device": "1"}).size is None
    shared = [
        command_line_job({"filename": "/dev/x", "numjobs": "4"}),
        command_line_job({"filename": "/dev/x"}),
    ]
    assert [job.size for job in jobs_for_ssd(shared, drives)] == [drives.capacity_bytes] * 2


def test_options_without_a_meaning_are_listed(tmp_path):
    text = "[global]\nioengine=libaio\ndirect=1\n[a]\nthread\nwrite_bw_log=x\ncontinue_on_error=0\n[b]\n"
    first, second = load_jobs(write(tmp_path, text), {"clocksource": "cpu"})
    assert first.ignored == ("ioengine", "direct", "thread", "write_bw_log", "clocksource")
    assert second.ignored == ("ioengine", "direct", "clocksource")


def test_files_include_files_and_use_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("FLASHTRAIN_TEST_DEPTH", "9")
    (tmp_path / "common").mkdir()
    (tmp_path / "common" / "global.fio").write_text(
        "include base.fio\niodepth=${FLASHTRAIN_TEST_DEPTH}\n", encoding="utf-8"
    )
    (tmp_path / "common" / "base.fio").write_text("[global]\nbs=8k ; of all\n", encoding="utf-8")
    text = "include common/global.fio\n[a]\nbsrange=4k-8k # and not 8k\nrunning_on=${FLASHTRAIN_TEST_DEPTH}\n"
    with pytest.raises(JobError, match=r"jobs.fio:4: \[a\] running_on: no such option"):
        load_jobs(write(tmp_path, text), {})
    (job,) = load_jobs(write(tmp_path, text.replace("running_on", "startdelay")), {})
    assert (job.iodepth, job.bs.least, job.bs.most, job.startdelay) == (9, 4096, 8192, 9 * 10**9)
    unset = "[a]\ndirectory=${NO_SUCH_VARIABLE_OF_FIO}\n"
    assert load_jobs(write(tmp_path, unset), {})[0].ignored == ("directory",)
    (tmp_path / "loop.fio").write_text("include loop.fio\n", encoding="utf-8")
    with pytest.raises(JobError, match="include: more than 8 files within each other"):
        load_jobs(tmp_path / "loop.fio", {})
    (tmp_path / "many.fio").write_text("include common/base.fio\n" * 65, encoding="utf-8")
    with pytest.raises(JobError, match=r"many\.fio:65 include: more than 64 files"):
        load_jobs(tmp_path / "many.fio", {})


def test_every_option_of_fio_has_one_standing():
    """The names that fio itself has, where it is installed; each is honoured, ignored or refused."""
    known = [set(OPTIONS), set(ALIASES), set(IGNORED), set(REFUSED)]
    assert sum(map(len, known)) == len(set().union(*known))
    assert set(ALIASES.values()) <= set().union(*known[::2], known[3])
    if which("fio") is None:
        pytest.skip("fio is not installed: 'apt-get install fio' brings it")
    listed = subprocess.run(["fio", "--cmdhelp=all"], text=True, capture_output=True).stdout
    names = {line.split(":")[0].strip() for line in listed.splitlines()}
    assert len(names) > 200 and names <= set().union(*known)


def test_values_of_a_sweep():
    assert sweep_of("iodepth=1..64").values == ("1", "2", "4", "8", "16", "32", "64")
    assert sweep_of("iodepth=3..20").values == ("3", "6", "12", "20")
    assert sweep_of("bs=4k..16k").values == ("4k", "8k", "16k")
    assert sweep_of("bs=512k..1m").values == ("512k", "1m")
    assert sweep_of("rw=read,randread").values == ("read", "randread")
    (job,) = sweep_of("bs=4k..8k").jobs([command_line_job({"size": "1m"})], "8k")
    assert job.bs == both(8192)


@pytest.mark.parametrize(
    "text, message",
    [
        ("iodepth", "--sweep: is 'iodepth'; expected OPTION=FIRST"),
        ("stream=a,b", "--sweep stream: cannot be swept; expected one of rw, bs, blocksize_range"),
        ("iodepth=8..2", "--sweep iodepth: is '8'..'2'; expected two numbers above 0, the lower one first"),
        ("rw=read..append", "--sweep rw: is 'read'..'append'; expected two numbers"),
        ("iodepth=1,x", "--sweep iodepth: is 'x'; expected an integer"),
    ],
)
def test_mistakes_of_sweeps(text, message):
    with pytest.raises(JobError, match=re.escape(message)):
        sweep_of(text)
