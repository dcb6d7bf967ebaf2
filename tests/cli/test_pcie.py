"""`flashtrain pcie` as a user meets it, without QEMU."""

import stat

import pytest

from flashtrain.cli.main import main

FALSE_QEMU = """\
#!/bin/sh
case "$*" in
*--version*) echo "QEMU emulator version {version}"; exit ;;
*",help") exit {lacks} ;;
esac
echo "$*"
{also}
exit {code}
"""


def false_qemu(folder, version="7.2.22", code=0, lacks=0, also=""):
    """A program that says its version, prints its options, and ends."""
    path = folder / "qemu"
    path.write_text(FALSE_QEMU.format(version=version, code=code, lacks=lacks, also=also), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_qemu_has_its_options_behind_ours(tmp_path, capfd):
    qemu = false_qemu(tmp_path)
    options = ["--preset", "tiny", "--memory", "64", "--qemu", str(qemu), "--", "-kernel", "vmlinuz"]
    assert main(["pcie", *options]) == 0
    out, err = capfd.readouterr()
    assert out.endswith("-kernel vmlinuz\n") and "-machine q35,usb=off,memory-backend=ram" in out
    assert "-accel tcg,thread=single" in out and "-device x-pci-proxy-dev,fd=" in out
    assert "QEMU 7.2.22, machine q35" in err and "0 reads, 0 writes; 0 commands refused" in err


def test_the_drive_in_rtl_has_a_time(tmp_path, capfd):
    """Its firmware has started it, and nobody has sent a command."""
    options = ["--preset", "tiny", "--link", "rtl", "--queues", "1", "--qemu", str(false_qemu(tmp_path))]
    assert main(["pcie", *options, "--", "-nographic"]) == 0
    error = capfd.readouterr().err
    assert "cycles of the RTL, 0.0" in error and "at 600 MHz; 0 commands" in error
    assert "0 reads, 0 writes; 0 commands refused" in error
    assert main(["pcie", *options, "--image", str(tmp_path / "flash.img"), "--", "-nographic"]) == 2
    assert "--image: the drive in RTL begins empty" in capfd.readouterr().err.splitlines()[-1]


def test_drives_lose_their_power_and_the_last_one_is_pulled_out(tmp_path, capfd):
    said = "for n in $(seq 600); do grep -q '{}' /proc/$PPID/fd/2 && break; sleep 0.05; done"
    steps = (
        "sleep 0.5; kill -USR1 $PPID",
        said.format("recovered"),
        "kill -USR2 $PPID",
        said.format("pulled out"),
    )
    signals = "; ".join(steps)
    qemu, trace = false_qemu(tmp_path, also=signals), tmp_path / "trace.csv"
    options = ["--preset", "tiny", "--drives", "2", "--trace", str(trace), "--qemu", str(qemu)]
    assert main(["pcie", *options, "--", "-nographic"]) == 0
    out, err = capfd.readouterr()
    assert out.count("-device x-pci-proxy-dev,fd=") == 2 and err.count("0 reads, 0 writes") == 2
    lines = [line.removeprefix("# ") for line in err.splitlines()]
    assert lines.index("loss of power") < lines.index("recovered") < lines.index("drive 2 is pulled out")
    assert trace.read_text(encoding="utf-8") == "drive,time,queue,opcode,nsid,slba,blocks,status\n"


@pytest.mark.parametrize(
    "version, code, lacks, message",
    [
        ("7.2.22", 3, 0, "QEMU has ended with code 3"),
        ("odd", 0, 0, "QEMU's version is 'odd'"),
        ("5.2.0", 0, 1, "QEMU 5.2.0 has no device x-pci-proxy-dev"),
    ],
    ids=["code", "version", "device"],
)
def test_a_qemu_that_does_not_run_is_one_line(version, code, lacks, message, tmp_path, capfd):
    qemu = false_qemu(tmp_path, version, code, lacks)
    assert main(["pcie", "--preset", "tiny", "--qemu", str(qemu), "--", "-nographic"]) == 2
    error = capfd.readouterr().err.splitlines()[-1]
    assert error.startswith("flashtrain pcie: ") and message in error


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "no options for QEMU; expected some behind '--'"),
        (["--qemu", "/nowhere/qemu", "--", "-nographic"], "/nowhere/qemu: no program"),
        (["--serial", "", "--", "-nographic"], "the serial number is ''"),
        (["--drives", "2", "--image", "x", "--", "-nographic"], "--image with 2 drives; expected one drive"),
    ],
    ids=["options", "program", "serial", "image"],
)
def test_mistakes_are_one_line(arguments, message, capsys):
    assert main(["pcie", "--preset", "tiny", *arguments]) == 2
    errors = capsys.readouterr().err.splitlines()
    assert len(errors) == 1 and errors[0].startswith("flashtrain pcie: ") and message in errors[0]


@pytest.mark.parametrize(
    "option",
    [("--queues", "65"), ("--queues", "0"), ("--entries", "1"), ("--entries", "1025"), ("--memory", "x")],
)
def test_numbers_have_limits(option, capsys):
    with pytest.raises(SystemExit):
        main(["pcie", *option, "--", "-nographic"])
    assert "expected a number from" in capsys.readouterr().err
