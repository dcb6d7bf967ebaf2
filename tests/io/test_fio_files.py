"""Job files in the style of published ones, unedited on both kinds of drives, and what their options do."""

import re
from dataclasses import replace
from itertools import islice, pairwise

import numpy as np
import pytest

from flashtrain.cli.main import main
from flashtrain.host import open_device
from flashtrain.io import (
    FlashDrive,
    IoRun,
    SsdDrive,
    command_line_job,
    jobs_for_flash,
    jobs_for_ssd,
    memory_bytes,
)
from flashtrain.io.flash_drive import FlashFile
from flashtrain.io.offsets import Distribution, Shape, distribution, permutations
from flashtrain.io.patterns import Direction
from flashtrain.io.ssd_drive import SsdFile
from flashtrain.model import ModelLink
from flashtrain.spec import preset
from flashtrain.spec.streams import SINGLE_NODE
from flashtrain.ssd import SsdConfig

SMALL = preset("small")
DRIVES = SsdConfig.of(SMALL, 1, over_provisioning=0.3)
READ, WRITE, TRIM = Direction
DRIVE = {"fms": ["--link", "model"], "ssd": ["--drive", "ssd"]}

BLOCK = """\
[global]
ioengine=libaio
direct=1
filename=/dev/nvme0n1
group_reporting
size=4m
"""
"""What most published files of block devices begin with."""

FILES = {
    "sequential write": """
[w]
rw=write
bs=128k
iodepth=32
""",
    "sequential read": """
invalidate=1
[r]
rw=read
bs=1m
iodepth=8
ramp_time=100us
runtime=2ms
time_based
""",
    "random read": """
norandommap
randrepeat=0
[r]
rw=randread
bs=4k
iodepth=16
numjobs=4
thread=1
size=1m
""",
    "mix": """
[m]
rw=randrw
rwmixread=70
bssplit=4k/60:16k/30:64k/10
iodepth=16
percentile_list=50:99:99.9
""",
    "stages": """
bs=64k
iodepth=8
[fill]
rw=write
[sequential]
stonewall
rw=read
[random]
wait_for_previous
rw=randread
bs=4k
size=1m
""",
    "rates": """
runtime=2ms
time_based
[w]
rw=write
bs=16k
rate=100m
rate_process=poisson
[r]
rw=randread
bs=4k
rate_iops=20k
""",
    "think": """
[r]
rw=randread
bsrange=4k-16k
thinktime=10
thinktime_blocks=4
iodepth=4
size=1m
""",
    "skewed": """
[r]
rw=randread
bs=4k
random_distribution=zipf:1.2
iodepth=4
io_size=2m
""",
    "verify": """
[v]
rw=write
bs=32k
verify=crc32c
verify_fatal=1
do_verify=1
fsync=16
end_fsync=1
""",
    "two loops": """
gtod_reduce=1
[w]
rw=write
bs=256k
loops=2
iodepth=4
size=2m
numjobs=2
""",
    "backwards": """
unlink=0
[r]
rw=read:-8k
bs=4k
size=1m
""",
    "one behind the other": """
threads=1
[writers]
rw=write
bs=128k
numjobs=2
[readers]
new_group
wait_for=writers
rw=randread
bs=4k
numjobs=2
size=1m
""",
    "the slow one decides": """
size=1m
exitall=1
[slow]
rw=read
thinktime=20
number_ios=10
exit_what=all
[fast]
new_group
rw=randrw
numjobs=2
iodepth=8
rate=300m,300m,300m
[never]
stonewall
rw=randread
""",
    "a profile of a disk": """
[profile]
rw=read
bs=64k
iodepth=2
zonemode=strided
zonesize=256k
zoneskip=768k
write_bw_log
""",
    "flows": """
norandommap
size=1m
bs=8k
iodepth=16
flow_sleep=1000
[reads]
rw=randread
flow=8
[writes]
rw=write
flow=2
""",
    "an enterprise mix": """
randrepeat=0
norandommap
[mix]
rw=randrw
rwmixread=40
rwmixwrite=60
bssplit=4k/77:8k/10:16k/7:32k/3:64k/3
blockalign=8k
random_distribution=zoned:50/5:30/15:20/80
numjobs=2
size=2m
""",
    "a scan": """
verify=pattern
verify_pattern=0xaa555aa5
verify_interval=512
verify_backlog=16
startdelay=0
[write-phase]
filename=datafile.tmp ; or a whole disk
rw=write
bs=64k
fill_device=1
do_verify=0
number_ios=64
[verify-phase]
stonewall
rw=read
bs=64k
size=1m
cmdprio_percentage=20
""",
}
MOVED = {
    "backwards": 1,
    "one behind the other": 10,
    "a profile of a disk": 1,
    "flows": 2,
    "an enterprise mix": 4,
    "a scan": 5,
    "sequential write": 4,
    "random read": 4,
    "mix": 4,
    "verify": 4,
    "two loops": 8,
    "think": 1,
    "skewed": 2,
}
"""MiB of the files that end by themselves."""


@pytest.mark.parametrize("drive", DRIVE)
@pytest.mark.parametrize("name", FILES)
def test_a_published_style(name, drive, tmp_path, capsys):
    """The file runs as it is; what has no meaning is in one line; and all bytes are moved."""
    path = tmp_path / "job.fio"
    path.write_text(BLOCK + FILES[name], encoding="utf-8")
    assert main(["io", str(path), *DRIVE[drive]]) == 0
    out = capsys.readouterr().out
    (ignored,) = [line for line in out.splitlines() if line.startswith("ignored, without a meaning here")]
    assert "direct, " in ignored and "ioengine" in ignored
    moved = [float(mib) for mib in re.findall(r"\(([\d.]+)MiB/", out)]
    if name in MOVED:
        assert sum(moved) == pytest.approx(MOVED[name], abs=0.1)
    if name == "stages":
        assert out.count("Run status group") == 3 and moved == [4, 4, 1]
    if name == "verify" and drive == "fms":
        assert "verify: crc32c, 1,024 logical blocks read, all as written" in out


def test_zoned_files(tmp_path, capsys):
    """Random writes of a zoned device go to write pointers; a conventional drive has no zones."""
    path = tmp_path / "zbd.fio"
    options = "zonemode=zbd\nmax_open_zones=14\n[w]\nrw=randwrite\nbs=64k\niodepth=4\nverify=md5\n"
    path.write_text(BLOCK + options, encoding="utf-8")
    assert main(["io", str(path), *DRIVE["fms"]]) == 0
    assert "1,024 logical blocks read, all as written" in capsys.readouterr().out
    assert main(["io", str(path), *DRIVE["ssd"]]) == 2
    assert (
        "zbd.fio:7: [global] zonemode: is 'zbd'; expected none: the drive has no zones"
        in capsys.readouterr().err
    )


def job(**options):
    return command_line_job({"size": "1m", **options})


def on_ssd(*jobs):
    jobs = jobs_for_ssd(jobs, DRIVES)
    with SsdDrive(DRIVES, jobs) as drive:
        return measured(drive, jobs)


def on_flash(*jobs):
    jobs = jobs_for_flash(jobs, SMALL, SINGLE_NODE)
    with open_device(SMALL, ModelLink, SINGLE_NODE, memory_bytes(jobs, SMALL)) as device:
        return measured(FlashDrive(device, timed=True), jobs)


def measured(drive, jobs):
    run = IoRun(drive, jobs)
    run.lay_out()
    run.measure()
    return run.results()


BOTH = pytest.mark.parametrize("drive", [on_flash, on_ssd])


@BOTH
def test_sizes_have_their_shares(drive):
    (result,) = drive(job(rw="read", bssplit="4k/75:16k/25", iodepth="4", size="8m"))
    sizes, counts = np.unique(result.samples[READ].command_bytes, return_counts=True)
    assert {4096, 16384} <= set(sizes.tolist())  # and what is left at the end of the file
    assert counts[0] / counts.sum() == pytest.approx(0.75, abs=0.06)


@BOTH
def test_stages_follow_each_other(drive):
    jobs = [job(rw="write", bs="64k"), job(rw="read", bs="64k", stonewall="1", numjobs="2")]
    first, *second = drive(*jobs)
    assert [result.group for result in (first, *second)] == [0, 1, 1]
    end = first.samples[WRITE].times[:, 2].max()
    assert all(result.samples[READ].times[:, 0].min() >= end for result in second)


@BOTH
def test_thinktime(drive):
    """After four commands all complete, and 100 us pass."""
    (result,) = drive(job(rw="read", bs="16k", thinktime="100", thinktime_blocks="4", iodepth="2"))
    times = result.samples[READ].times
    think = 100 * SMALL.timing.clock_mhz
    for before, behind in pairwise(np.split(times, len(times) // 4)):
        assert think <= behind[0, 0] - before[:, 2].max() < think + 100


@BOTH
@pytest.mark.parametrize("process, deviation", [("linear", 0.0), ("poisson", 1.0)])
def test_the_gaps_of_a_rate(drive, process, deviation):
    """Gaps of a Poisson process have a deviation as large as their mean; linear ones none."""
    options = {"bs": "4k", "rate_iops": "20k", "rate_process": process, "iodepth": "64", "size": "4m"}
    (result,) = drive(job(rw="read", **options))
    gaps = np.diff(result.samples[READ].times[:, 0]) / (SMALL.timing.clock_mhz * 1e6)
    assert gaps.mean() == pytest.approx(1 / 20480, rel=0.1)
    assert gaps.std() / gaps.mean() == pytest.approx(deviation, abs=0.12)


@BOTH
def test_ends_of_jobs(drive):
    """By number_ios, by io_size and loops, and with the first that ends."""
    few, loops = drive(job(rw="read", number_ios="7"), job(rw="read", io_size="64k", loops="3", bs="8k"))
    assert few.samples[READ].commands == 7
    assert loops.samples[READ].bytes == 3 * 64 << 10
    short, long = drive(job(rw="read", number_ios="5", exitall="1"), job(rw="read", size="4m"))
    assert short.samples[READ].commands == 5 and long.samples[READ].commands < 100


@BOTH
def test_waiting_for_a_job(drive):
    """The second begins behind the last copy of the first; the third beside the first."""
    writers = job(rw="write", name="w", numjobs="2")
    *copies, late, free = drive(writers, replace(job(rw="read"), wait_for="w"), job(rw="read"))
    last = max(copy.samples[WRITE].times[:, 2].max() for copy in copies)
    begins = [result.samples[READ].times[0, 0] for result in (late, free)]
    assert begins[0] >= last > begins[1]


@BOTH
@pytest.mark.parametrize("what, ended", [("group", [1]), ("stonewall", [1, 2]), ("all", [1, 2, 3])])
def test_what_exitall_ends(drive, what, ended):
    """Jobs 0 and 1 are a group, 2 runs beside them, and 3 behind a stonewall."""
    jobs = [
        job(rw="read", number_ios="5", exitall="1", exit_what=what),
        job(rw="read"),
        job(rw="read", new_group="1"),
        job(rw="read", stonewall="1"),
    ]
    whole = [result.samples[READ].commands == 256 for result in drive(*jobs)]
    assert whole == [False, *(number not in ended for number in (1, 2, 3))]


@BOTH
def test_flows_stay_in_proportion(drive):
    """While both run, of the commands issued up to any time the one has four times as many as the other."""
    both = [job(rw="read", flow=str(flow), iodepth="8", numjobs="1") for flow in (8, 2)]
    fast, slow = (result.samples[READ].times[:, 0] for result in drive(*both))
    for time in fast[::16]:
        assert abs((fast <= time).sum() / 4 - (slow <= time).sum()) <= 2


@BOTH
def test_steps_and_runs(drive, monkeypatch):
    """Backwards from the end; random offsets of which each has a run behind it, or at one place."""
    assert offsets(drive, monkeypatch, rw="read:-8k", size="32k", number_ios="4") == [6, 5, 4, 3]
    assert offsets(drive, monkeypatch, rw="read:4k", size="32k", number_ios="5") == [0, 2, 4, 6, 0]
    runs = offsets(drive, monkeypatch, rw="randread:4", number_ios="32")
    assert all(
        last - first in (1, -first) for run in np.split(np.array(runs), 8) for first, last in pairwise(run)
    )
    same = offsets(drive, monkeypatch, rw="randread:4", rw_sequencer="identical", number_ios="32")
    assert all(len(set(run)) == 1 for run in np.split(np.array(same), 8)) and len(set(same)) == 8
    aligned = offsets(drive, monkeypatch, rw="randread", ba="16k", number_ios="32")
    assert not any(first % 4 for first in aligned) and len(set(aligned)) == 32


@BOTH
def test_strided_zones(drive, monkeypatch):
    """Two commands in each zone, and two blocks between zones, which count as done."""
    strides = {"zonesize": "8k", "zoneskip": "8k", "size": "36k"}
    assert offsets(drive, monkeypatch, rw="read", **strides) == [0, 1, 4, 5, 0]
    assert offsets(drive, monkeypatch, rw="read", **strides, zonerange="16k") == [0, 1, 0, 1, 0]
    strides |= {"zonemode": "strided", "zonerange": "16k", "size": "64k", "number_ios": "64"}
    found = np.array(offsets(drive, monkeypatch, rw="randread", **strides, io_size="1m"))
    assert (found // 6 == np.arange(64) // 2 % 3).all()
    assert set((found % 6).tolist()) == {0, 1, 2, 3}


def offsets(drive, monkeypatch, **options):
    """The first blocks of the reads of a job."""
    found = []
    for kind in (FlashFile, SsdFile):
        begin = kind.begin

        def noted(self, direction, first, count, begin=begin):
            found.append(first)
            return begin(self, direction, first, count)

        monkeypatch.setattr(kind, "begin", noted)
    drive(job(**options))
    monkeypatch.undo()
    return found


@BOTH
def test_delays_of_the_start(drive):
    first, late = drive(job(rw="read"), job(rw="read", startdelay="500us"))
    delay = late.samples[READ].times[0, 0] - first.samples[READ].times[0, 0]
    assert delay == pytest.approx(500 * SMALL.timing.clock_mhz, rel=0.01)


def test_flushes_on_the_flash():
    """A flush behind every second write: as many programs end before the next ones begin."""
    plain, flushed = (on_flash(job(rw="write", bs="4k", size="64k", fsync=fsync))[0] for fsync in ("0", "2"))
    assert plain.samples[WRITE].commands == flushed.samples[WRITE].commands == 16
    times = [result.samples[WRITE].times for result in (plain, flushed)]
    unflushed, lasting = (each[-1, 2] - each[0, 0] for each in times)
    assert lasting > 7 * SMALL.timing.cycles("tprog") > unflushed


def test_reads_of_conventional_drives_sense_the_flash():
    """One read at a time takes the controller's time, a sense, and a page on the bus, at least."""
    (result,) = on_ssd(job(rw="randread"))
    least = DRIVES.read_ns + SMALL.timing.tr.ns + DRIVES.bus_page_bytes / SMALL.timing.bytes_per_second * 1e9
    assert least < result.samples[READ].latency.min() < 1.5 * least


def test_trims_of_conventional_drives():
    """Each page of the file is trimmed once, in no time, and holds nothing behind."""
    jobs = jobs_for_ssd([job(rw="randtrim", bs="4k,4k,16k", size="32m")], DRIVES)
    with SsdDrive(DRIVES, jobs) as drive:
        run = IoRun(drive, jobs)
        run.lay_out()
        held = drive.array.kernel.superblocks(0).valid
        run.measure()
        (result,) = run.results()
        assert held > 6 << 10 and drive.array.kernel.superblocks(0).valid == 0
    assert set(result.samples) == {TRIM} and result.samples[TRIM].commands == 2048
    assert result.samples[TRIM].latency.max() == 0


def test_copies_share_a_named_file_on_conventional_drives():
    """Two copies overwrite the same pages, so that the drive holds 1 MiB, or 2 MiB in files of their own."""

    def valid_pages(**options):
        jobs = jobs_for_ssd([job(rw="randwrite", numjobs="2", **options)], DRIVES)
        with SsdDrive(DRIVES, jobs) as drive:
            files = [drive.file(jobs[0], copy, copy, "w") for copy in range(2)]
            return {file._base for file in files}

    assert valid_pages(filename="/dev/x") == {0}
    assert valid_pages() == {0, 256}
    assert valid_pages(filename="/dev/x", offset="64k", offset_increment="1m") == {16, 16 + 256}


def zeta(theta, ranks):
    return sum(rank**-theta for rank in range(1, ranks + 1))


@pytest.mark.parametrize(
    "shape, share",
    [
        # The share of the hottest hundredth: of ranks, of a power law, of the middle of a Gaussian.
        (Distribution(Shape.ZIPF, 1.2), zeta(1.2, 100) / zeta(1.2, 10_000)),
        (Distribution(Shape.ZIPF, 0.8), zeta(0.8, 100) / zeta(0.8, 10_000)),
        (Distribution(Shape.PARETO, 0.2), 0.01 ** (np.log(0.8) / np.log(0.2))),
        (Distribution(Shape.NORMAL, 10.0), 0.0399),
        (Distribution(), 0.0135),  # of 100,000 draws the hundredth drawn most often has a little more
    ],
)
def test_distributions(shape, share, seed):
    draws = shape.draws(10_000, np.random.default_rng(seed))
    counts = np.bincount([next(draws) for _ in range(100_000)], minlength=10_000)
    assert len(counts) == 10_000
    assert np.sort(counts)[-100:].sum() / 100_000 == pytest.approx(share, abs=0.015)


def test_zones_have_their_shares(seed):
    for text in ("zoned:50/5:30/15:20/", "zoned_abs:50/200k:30/600k:20/"):
        draws = distribution(text).draws(1000, np.random.default_rng(seed), 4096)
        found = np.array([next(draws) for _ in range(20_000)])
        assert found.max() < 1000
        shares = [((low <= found) & (found < high)).mean() for low, high in pairwise((0, 50, 200, 1000))]
        assert shares == pytest.approx([0.5, 0.3, 0.2], abs=0.02)
    beyond = distribution("zoned_abs:50/1g:50/1g").draws(10, np.random.default_rng(seed), 4096)
    assert set(islice(beyond, 1000)) == set(range(10))


def test_a_peak_is_the_hottest_place(seed):
    draws = Distribution(Shape.ZIPF, 1.5, 0.25).draws(1000, np.random.default_rng(seed))
    assert np.bincount([next(draws) for _ in range(2000)]).argmax() == 249


def test_permutations_have_each_unit_once(seed):
    order = permutations(50, np.random.default_rng(seed))
    rounds = [[next(order) for _ in range(50)] for _ in range(2)]
    assert all(sorted(each) == list(range(50)) for each in rounds) and rounds[0] != rounds[1]
