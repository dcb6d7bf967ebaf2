"""The RTL Link as a resource of its process: memory and files that it leaves, and its refusal of work."""

import os
import subprocess
import sys
from pathlib import Path
from signal import SIGTERM

import numpy as np
import pytest

from flashtrain.host import DeviceClosed, open_device
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import preset
from flashtrain.spec.registers import Register

TINY = preset("tiny")
MEMORY_BYTES = 1 << 20


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[1]) * 4096


def test_a_closed_link_refuses_everything():
    link = RtlLink(TINY, MEMORY_BYTES)
    device = open_device(link=link, factory=True)
    stored = device.stream("trained").append(np.arange(10))
    link.close()
    link.close()
    for use in (
        lambda: link.cycles,
        lambda: link.seconds,
        lambda: link.run(10),
        lambda: link.wait(),
        lambda: link.power_cycle(),
        lambda: link.read_register(Register.STATE),
        lambda: link.write_register(Register.CONTROL, 0),
        lambda: link.take_trace(),
        lambda: link.set_tracing(True),
        lambda: link.raw_page(0, 0, 0, 0, 0),
        lambda: link.raw_pages(),
        lambda: link.erase_counts(),
        lambda: link.break_block(0, 0, 0, 0),
        lambda: link.hang_die(0, 0),
        lambda: link.mend_dies(),
        lambda: link.set_errors(None),
        lambda: link.pass_time(1),
        lambda: link.set_read_level(0, 0, 0),
        lambda: link.flipped_bits(),
        lambda: link.take_flips(),
        lambda: link.take_cuts(),
        lambda: device.cycles,
        lambda: device.counters(),
        lambda: device.channel_counters(),
        lambda: device.info(),
        lambda: device.zone_wear(),
        lambda: device.stream("trained").read(stored),
        lambda: device.recover(),
    ):
        with pytest.raises(DeviceClosed, match="is closed"):
            use()
    assert len(link.memory) == MEMORY_BYTES, "arrays in it stay valid"


def test_it_is_opened_by_its_name():
    with open_device("tiny", "rtl", memory_bytes=MEMORY_BYTES) as device:
        assert isinstance(device.link, RtlLink)


def test_opening_and_closing_leaks_no_memory():
    def use() -> None:
        with RtlLink(TINY, MEMORY_BYTES) as link:
            link.run(100)

    for _ in range(3):
        use()
    before = resident_bytes()
    for _ in range(15):
        use()
    assert resident_bytes() - before < 8 << 20, "about half a MiB per open"


def test_links_are_independent():
    with RtlLink(TINY, MEMORY_BYTES) as one, RtlLink(TINY, MEMORY_BYTES) as other:
        before, start = one.cycles, other.cycles
        one.run(500)
        assert (one.cycles, other.cycles) == (before + 500, start)
        one.close()
        other.run(100)
        assert other.cycles == start + 100


_OPENS = """
import sys
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.spec import preset

link = RtlLink(preset("tiny"), 1 << 20)
print("opened", flush=True)
sys.stdin.read()
"""


def test_a_terminated_process_leaves_no_files(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", _OPENS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},  # the user's cache has the library
    )
    assert process.stdout is not None and process.stdout.readline() == "opened\n"
    process.send_signal(SIGTERM)
    assert process.wait(60) == -SIGTERM
    process.communicate()
    assert list(tmp_path.iterdir()) == []
