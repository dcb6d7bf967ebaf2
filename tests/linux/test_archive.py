"""The machine's archive and super block, judged by programs of others."""

import io
import re
import shutil
import struct
import subprocess
import zlib

import pytest

from flashtrain.linux.cpio import Cpio
from flashtrain.linux.initramfs import guest_scripts, step_name
from flashtrain.linux.packages import Packages
from flashtrain.linux.pcie import OF_THE_TARGET, check_driver
from flashtrain.linux.run import DEVICES, Outcome, Step, table
from flashtrain.linux.traces import compare
from flashtrain.linux.zonefs import super_block
from flashtrain.spec.errors import ToolError


def test_the_archive_is_one_of_cpio(tmp_path):
    if shutil.which("cpio") is None:
        pytest.skip("cpio is not installed: 'apt-get install cpio' brings it")
    file = io.BytesIO()
    archive = Cpio(file)
    archive.add("a/b/text", b"12345", executable=True)
    archive.add("a/b/text", b"other")
    archive.link("a/link", "b/text")
    archive.end()
    subprocess.run(["cpio", "-i", "-d"], input=file.getvalue(), cwd=tmp_path, check=True, capture_output=True)
    assert (tmp_path / "a/b/text").read_bytes() == (tmp_path / "a/link").read_bytes() == b"12345"
    assert (tmp_path / "a/b/text").stat().st_mode & 0o777 == 0o755


def test_the_headers_of_an_archive():
    file = io.BytesIO()
    archive = Cpio(file)
    archive.add("x", b"abc")
    archive.end()
    raw = file.getvalue()
    assert raw[:6] == b"070701" and int(raw[54:62], 16) == 3 and raw[110:112] == b"x\0"
    assert raw[112:115] == b"abc" and raw[116:122] == b"070701" and b"TRAILER!!!\0" in raw


def test_the_super_block_has_the_crc_that_the_kernel_computes():
    block = super_block()
    assert len(block) == 4096 and block[:4] == b"SFOZ"
    found = struct.unpack_from("<I", block, 4)[0]
    assert zlib.crc32(block[:4] + bytes(4) + block[8:]) ^ 0xFFFF_FFFF == found


def test_steps_have_names_and_an_order():
    names = [name for name, _ in guest_scripts(lambda name: True)]
    assert names[:2] == ["init.sh", "functions.sh"]
    assert all(re.fullmatch(r"steps/\d\d-[a-z-]+\.sh", name) for name in names[2:])
    assert [name for name, _ in guest_scripts("connect".__eq__)][2:] == ["steps/11-connect.sh"]
    left_out = set.intersection(*(set(device.without) for device in DEVICES))
    assert not left_out, "steps that no device runs"


def test_an_outcome_is_good_only_without_a_fault():
    good = Outcome(DEVICES[0], (Step("connect", True, 1.0, "yes"),), 2.0, 3, 0, True, ())
    assert good.good and "3 commands were refused, 0 of them sent again" in table(good)
    for changes in (
        {"ended": False},
        {"repeated": 1},
        {"steps": (Step("connect", False, 1.0, ""),)},
        {"steps": ()},
    ):
        assert not Outcome(**{**vars(good), **changes}).good


def test_a_kernel_without_the_driver_is_one_line(tmp_path):
    packages = Packages(tmp_path)
    (tmp_path / "root" / "boot").mkdir(parents=True)
    (tmp_path / "root" / "boot" / "vmlinuz-9.9").touch()
    with pytest.raises(ToolError, match="has no driver of NVMe"):
        check_driver(packages)
    modules = tmp_path / "root" / "lib" / "modules" / "9.9"
    modules.mkdir(parents=True)
    (modules / "modules.builtin").write_text("kernel/drivers/nvme/host/nvme.ko\n", encoding="utf-8")
    check_driver(packages)


def test_steps_of_both_machines_have_an_order():
    names = [name for name, _ in guest_scripts(lambda name: name not in OF_THE_TARGET, ("steps", "pcie"))][2:]
    assert names == sorted(names) and names[0] == "steps/10-bind.sh" and "steps/40-btrfs.sh" in names
    every = {step_name(name.removeprefix("steps/")) for name, _ in guest_scripts(lambda name: True)}
    assert set(OF_THE_TARGET) <= every


COMMANDS = """\
drive,time,queue,opcode,nsid,slba,blocks,status
1,1,1,write,1,0,9,0x000
1,2,1,read,1,101,1,0x000
1,3,1,write,1,0,2,0x000
2,3,1,read,1,3,1,0x000
1,4,2,read,1,0,2,0x000
1,5,2,zone_management_send,1,0,0,0x000
1,6,2,zone_management_receive,1,0,0,0x000
1,7,1,read,1,102,1,0x000
"""
CONSOLE = [
    "@marks 101 102", "@counts 8 8 1 2", "@event WS 0 16", "@event R 0 16", "@event R 0 80", "@event WS 64 0",
    "@program R 0 80",
]  # fmt: skip


@pytest.mark.parametrize(
    "change, found",
    [
        (None, "1 reads of 8 KiB, 1 writes of 8 KiB, 1 changes of zones, 1 reports"),
        (("@event WS 0 16", "@event WS 0 24"), "the drive has also 1 (1 x ('W', 0, 2)), the machine 1"),
        (("@counts 8 8 1 2", "@counts 8 8 1 3"), "are [8, 8, 1, 3]; the drive has [8, 8, 1, 2]"),
        (("@marks 101 102", "@marks 101 103"), "the drive has also none"),
        (("@marks 101 102", ""), "the machine has no trace"),
    ],
    ids=["same", "request", "counts", "marks", "none"],
)
def test_both_traces_have_the_same_requests(change, found, tmp_path):
    (tmp_path / "trace.csv").write_text(COMMANDS, encoding="utf-8")
    console = [line.replace(*change) if change else line for line in CONSOLE]
    step = compare(console, tmp_path / "trace.csv")
    assert step.good == (change is None) and found in step.detail
