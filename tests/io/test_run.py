"""Jobs on devices: their commands, times, rings and contents."""

from dataclasses import replace

import numpy as np
import pytest

from flashtrain.cli.benchmarks import BENCHMARKS
from flashtrain.host import FunctionalLink, StreamFull, open_device
from flashtrain.io import (
    FlashDrive,
    IoFailed,
    IoRun,
    command_line_job,
    jobs_for_flash,
    memory_bytes,
    queue_entries,
)
from flashtrain.io.patterns import Direction
from flashtrain.io.samples import joined
from flashtrain.model import ModelLink
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import Port, preset
from flashtrain.spec.streams import SINGLE_NODE
from flashtrain.traces import Operation
from flashtrain.traces.recorder import TraceRecorder

TINY, SMALL = preset("tiny"), preset("small")
READ, WRITE, _ = Direction


def job(**options):
    return command_line_job({"size": "8k", "bs": "1k", **options})


def measure(*jobs, link=ModelLink, config=TINY, between=lambda run, device: None):
    """The results of jobs; `between` is called before the data are verified."""
    jobs = jobs_for_flash(jobs, config, SINGLE_NODE)
    memory, entries = memory_bytes(jobs, config), queue_entries(jobs, config)
    with open_device(config, link, SINGLE_NODE, memory, entries) as device:
        run = IoRun(FlashDrive(device, timed=link is not FunctionalLink), jobs)
        run.lay_out()
        run.measure()
        between(run, device)
        run.verify()
        return run.results()


def recorded(*jobs):
    """The commands of jobs on a functional device, without their lay-out: (operation, block, blocks)."""
    recorder = TraceRecorder()
    with open_device(TINY, recorder.around(FunctionalLink), SINGLE_NODE) as device:
        run = IoRun(FlashDrive(device, timed=False), jobs_for_flash(jobs, TINY, SINGLE_NODE))
        run.lay_out()
        before = len(recorder.records())
        run.measure()
    return [(record.op, record.lba, record.sectors) for record in recorder.records()[before:]]


def content_of(run, number):
    """The first content of a logical block of the first job."""
    return run.workers[0].file._content.of(np.array([number]), np.array([0])).tobytes()


def test_the_order_of_reads():
    first = SINGLE_NODE.zones(TINY.geometry.zones)[2].start * TINY.geometry.zone_size
    expected = [(Operation.READ, first + 2 * block, 2) for block in range(8)]
    assert recorded(job(rw="read")) == expected
    random = recorded(job(rw="randread"))
    assert sorted(random) == expected and random != expected
    assert recorded(job(rw="randread")) == random != recorded(job(rw="randread", randseed="2"))


def test_a_mix_has_its_share():
    mix = recorded(job(rw="randrw", rwmixread="75", size="36k", bs="512"))
    reads = sum(op is Operation.READ for op, *_ in mix)
    moved = sum(op in (Operation.READ, Operation.WRITE) for op, *_ in mix)
    assert moved == 72 and 0.6 < reads / moved < 0.9


@pytest.mark.parametrize("link", [FunctionalLink, ModelLink, RtlLink])
def test_all_patterns_are_verified(link):
    jobs = [
        job(rw="append", verify="crc32c", iodepth="3"),
        job(rw="randrw", verify="crc32c", stream="weights", iodepth="2"),
        job(rw="read", verify="crc32c", stream="trained", port="host", numjobs="2"),
    ]
    results = measure(*jobs, link=link)
    assert [result.name for result in results] == ["write", "randrw", "read.0", "read.1"]
    assert all(result.wrong_count == 0 for result in results)
    append, mix, *reads = results
    assert append.checked == 16  # read back
    assert mix.checked == 16 + 2 * mix.samples[READ].commands
    assert [result.checked for result in reads] == [16, 16]
    assert sum(part.commands for part in mix.samples.values()) == 8
    times = [part.window.seconds > 0 for result in results for part in result.samples.values()]
    assert all(times) if link is not FunctionalLink else not any(times)


@pytest.mark.parametrize("link", [ModelLink, RtlLink])
def test_a_ring_goes_round(link):
    """Far more is appended than the stream holds; what is kept is the last version of each block."""
    ring = job(rw="append", size="9k", verify="crc32c", runtime="500us", time_based="1", iodepth="4")
    resets = []

    def look(run, device):
        resets.append(device.stream("activations").zones_reset)

    (result,) = measure(ring, link=link, between=look)
    zone = TINY.geometry.zone_capacity * TINY.geometry.page_bytes
    appended = result.samples[WRITE].bytes
    assert appended > 3 * zone * len(SINGLE_NODE.zones(TINY.geometry.zones)[2])
    assert appended // zone - 2 <= resets[0] <= appended // zone + 1
    assert (result.checked, result.wrong_count) == (18, 0)


def test_rings_that_get_in_the_way_of_each_other():
    """A slow job keeps its old blocks, and with them the zones of a fast one: one line, no traceback."""
    fast = job(rw="append", size="6k", runtime="1ms", time_based="1", iodepth="4")
    slow = replace(
        job(rw="append", size="12k", bs="512", runtime="1ms", time_based="1", rate_iops="20k"), name="s"
    )
    with pytest.raises(IoFailed, match=r"^(write|s): stream 'activations' has room for") as failure:
        measure(fast, slow)
    assert isinstance(failure.value.__cause__, StreamFull)


@pytest.mark.parametrize("link", [ModelLink, RtlLink])
def test_rates(link):
    both = {"runtime": "400us", "ramp_time": "100us", "time_based": "1", "iodepth": "4"}
    results = measure(
        job(rw="read", rate_iops="100k", **both),
        job(rw="append", stream="inputs", port="host", rate="50m", **both),
        job(rw="rw", stream="weights", rate_iops="50k,25k", rwmixread="60", **both),
        link=link,
    )
    read, append, mix = results
    assert read.samples[READ].iops == pytest.approx(100 << 10, rel=0.03)
    assert append.samples[WRITE].bytes_per_second == pytest.approx(50 << 20, rel=0.06)
    assert mix.samples[WRITE].iops < 1.1 * (25 << 10) and mix.samples[READ].iops < 1.1 * (50 << 10)
    assert all(part.window.seconds == pytest.approx(400e-6) for part in read.samples.values())


@pytest.mark.parametrize("link", [ModelLink, RtlLink])
def test_commands_in_flight(link):
    """Little's law: the rate times the mean latency is the depth. Two jobs are in flight at once."""
    options = {"rw": "randread", "bs": "512", "runtime": "300us", "ramp_time": "20us", "time_based": "1"}
    for depth in (1, 4):
        first, second = measure(
            job(iodepth=str(depth), **options),
            job(iodepth="2", stream="trained", port="host", **options),
            link=link,
        )
        for result, expected in ((first, depth), (second, 2)):
            samples = result.samples[READ]
            assert samples.iops * samples.latency.mean() * 1e-9 == pytest.approx(expected, rel=0.05)
            assert max(result.depths) == expected
    assert np.all(np.diff(first.samples[READ].times, axis=1) > 0)


def test_a_run_can_be_repeated():
    """The same seed has the same commands at the same cycles."""

    def times(**options):
        (result,) = measure(job(rw="randread", iodepth="3", size="24k", bs="512", **options))
        return result.samples[READ].times.tolist()

    assert times() == times() != times(randseed="9")


@pytest.mark.parametrize(
    "benchmark, options",
    [
        ("append_erased", {"rw": "append", "bs": "128k"}),
        ("read_sequential", {"rw": "read", "bs": "256k"}),
    ],
)
def test_bandwidth_is_that_of_the_benchmarks(benchmark, options):
    """Sequential appends and reads agree with `flashtrain bench` within 0.5 %, on the performance model."""
    common = {"size": "32m", "iodepth": "16", "ramp_time": "2ms", "runtime": "20ms", "time_based": "1"}
    (result,) = measure(job(**common, **options), config=SMALL)
    rate = joined(list(result.samples.values())).bytes_per_second
    with open_device(SMALL, ModelLink, SINGLE_NODE, 64 << 20) as device:
        measured = BENCHMARKS[benchmark].run(device, False)
    assert rate / 1e9 == pytest.approx(measured.value, rel=0.005)


def test_a_planted_bit_is_found(seed):
    """One bit of one page on a die of the RTL: verify names its block, its address and the bit."""
    random = np.random.default_rng(seed)
    block, bit = int(random.integers(8)), int(random.integers(8 * 512))
    planted = []

    def plant(run, device):
        run.workers[0].file.stream.flush()
        right = content_of(run, 2 * block + 1)
        (place,) = [at for at, page in device.link.raw_pages().items() if page[:512] == right]
        page = bytearray(device.link.raw_page(*place[:5]))
        page[bit // 8] ^= 1 << bit % 8
        device.link.put_raw_page(*place[:5], bytes(page))
        planted.append(page[bit // 8] >> bit % 8 & 1)

    append = job(rw="append", verify="crc32c")
    (result,) = measure(append, link=RtlLink, between=plant)
    assert result.wrong_count == 1
    (wrong,) = result.wrong
    assert (wrong.offset, wrong.bits, wrong.byte, wrong.bit) == (1024 * block + 512, 1, bit // 8, bit % 8)
    assert wrong.lba == 2 * block + 1
    assert str(wrong) == (
        f"write: block at offset {wrong.offset}, LBA {wrong.lba} of stream 'activations': bit {bit % 8}"
        f" of byte {bit // 8} is {planted[0]}; expected {1 - planted[0]}"
    )


def test_a_wrong_bit_of_a_block_in_two_zones():
    """Block 4 of five logical blocks begins in zone 0, and its last logical block is the first of zone 1."""
    append = job(rw="append", verify="crc32c", bs="2560", size="15k")

    def plant(run, device):
        right = content_of(run, 24)
        for zone in device.link._flash.zones:
            for offset, page in enumerate(zone):
                if page is not None and page.data == right:
                    wrong = bytes([right[0] ^ 1, *right[1:511], right[511] ^ 0x80])
                    zone[offset] = page._replace(data=wrong)

    assert TINY.geometry.zone_capacity == 24
    (result,) = measure(append, link=FunctionalLink, between=plant)
    (wrong,) = result.wrong
    assert (wrong.offset, wrong.lba, wrong.bits) == (24 * 512, TINY.geometry.zone_size, 2)
    assert (wrong.byte, wrong.bit) == (0, 0) and "2 wrong bits, the first: bit 0 of byte 0 is " in str(wrong)


def test_wrong_bits_of_reads_are_found():
    """Senses of an RTL device that flips bits at a steady rate, while a job reads."""
    from flashtrain.sim.nand.errors import even

    reads = job(rw="randread", verify="crc32c", stream="trained", size="24k")
    (reads,) = jobs_for_flash([reads], TINY, SINGLE_NODE)
    with open_device(TINY, RtlLink, SINGLE_NODE, memory_bytes([reads], TINY)) as device:
        run = IoRun(FlashDrive(device, timed=True), [reads])
        run.lay_out()
        device.link.set_errors(even(5e-5, seed=3), keep=True)
        run.measure()
        flips = device.link.take_flips()
        (result,) = run.results()
    in_data = [flip for flip in flips if int(flip.item()[6]) < 8 * 512]
    assert len(in_data) == sum(wrong.bits for wrong in result.wrong) > 0
    assert result.job.port is Port.CORE
