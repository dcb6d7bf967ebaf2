"""The command as a user meets it: help, mistakes, interruption."""

import errno
import os
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from flashtrain.cli import main as cli
from flashtrain.cli.console import Console, byte_count, table

COMMANDS = ["train", "sequence", "verilog", "area", "bench", "sweep", "fuzz", "faults", "powercut", "info"]


def run(*arguments: str) -> int:
    """The exit code of the command; also when `argparse` exits."""
    try:
        return cli.main(arguments)
    except SystemExit as leaving:
        assert isinstance(leaving.code, int)
        return leaving.code


def test_help_lists_the_commands(capsys):
    assert run("--help") == 0
    text = capsys.readouterr().out
    assert all(f"  {name} " in text for name in COMMANDS)
    assert "examples:" in text and "exit codes:" in text


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_has_help_with_examples(command, capsys):
    assert run(command, "--help") == 0
    text = capsys.readouterr().out
    assert f"  flashtrain {command}" in text
    assert "examples:" in text


MISTAKES = [
    ((), "flashtrain: the following arguments are required: COMMAND"),
    (("fly",), "flashtrain: argument COMMAND: invalid choice: 'fly'"),
    (("info", "--preset", "huge"), "flashtrain info: argument --preset: invalid choice: 'huge'"),
    (("info", "--color"), "flashtrain: unrecognized arguments: --color"),
    (("train", "--iterations", "0"), "--iterations: expected an integer of at least 1, got '0'"),
    (("train", "--iterations", "many"), "--iterations: expected an integer of at least 1, got 'many'"),
    (("train", "--link", "pcie"), "argument --link: invalid choice: 'pcie'"),
    (("train", "--batch", "100000", "--link", "functional"), "batch size must be 1 to 1438, got 100000"),
    (("sequence",), "flashtrain sequence: the following arguments are required: ACTION"),
    (("sequence", "show", "missing.json"), "missing.json: cannot be read: No such file or directory"),
    (
        ("sequence", "generate", "/dev/null/sequence.json"),
        "argument file: /dev/null: /dev/null is not a folder; expected one",
    ),
    (("bench", "--preset", "tiny_ecc"), "no benchmark of the table is on 'tiny_ecc'"),
    (
        ("train", "--seed", "-1", "--link", "functional"),
        "--seed: expected an integer of at least 0, got '-1'",
    ),
    (("fuzz", "--seed", "-1"), "--seed: expected an integer of at least 0, got '-1'"),
    (("train", "--link", "functional", "--compare-places"), "it needs --link rtl and --update die"),
    (("train", "--link", "functional", "--wear-budget", "9"), "it needs --link rtl or --link model"),
    (("train", "--wear-budget", "9:stop"), "--wear-budget: expected DAYS or DAYS:refuse, got '9:stop'"),
    (("train", "--wear-budget", "0"), "--wear-budget: expected a number above 0, got '0'"),
    (("train", "--link", "functional", "--output", "/proc"), "argument --output: /proc: cannot be written: "),
    (("faults", "--preset", "tiny"), "argument --preset: invalid choice: 'tiny' (choose from 'tiny_ecc'"),
    (("bench", "warp_speed"), "no benchmark 'warp_speed'; expected some of append_erased, append_sustained"),
]


@pytest.mark.parametrize(("arguments", "message"), MISTAKES)
def test_a_mistake_is_one_line_and_exit_code_2(arguments, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert run(*arguments) == 2
    output = capsys.readouterr()
    assert output.out == ""
    lines = [line for line in output.err.splitlines() if not line.startswith("# ")]
    assert len(lines) == 1, output.err
    assert message in lines[0]


def test_a_bad_file_is_named(capsys, tmp_path):
    file = tmp_path / "bad.json"
    file.write_text('{"format": "flashtrain-sequence", "version": 7}', encoding="utf-8")
    assert run("sequence", "show", str(file)) == 2
    assert f"{file}: version: expected 2, 3 or 4, got 7" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made(capsys, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert run("train", "--link", "functional", "--output", str(tmp_path / "file" / "run")) == 2
    assert f"{tmp_path}/file" in capsys.readouterr().err


COMMAND = [sys.executable, "-m", "flashtrain.cli.main"]
SHORT = ["train", "--link", "functional", "--iterations", "2", "--batch", "8"]


def test_interrupted(tmp_path):
    """Ctrl-C ends a run with one line and the exit code of a signal."""
    process = subprocess.Popen(
        [*COMMAND, "train", "--link", "functional", "--iterations", "300", "--output", tmp_path],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # Tests that run in the background have it ignored, and so would their children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        assert process.stdout is not None
        assert "iteration" in process.stdout.readline()
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "flashtrain train: interrupted"
    assert "Traceback" not in errors


@contextmanager
def closed_pipe():
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w", encoding="utf-8") as closed:
        yield closed


def test_a_reader_that_has_enough(tmp_path):
    """`train | head -1`: the training continues, and writes its files."""
    with closed_pipe() as stdout:
        done = subprocess.run(
            [*COMMAND, *SHORT, "--output", tmp_path], stdout=stdout, stderr=subprocess.PIPE, text=True
        )
    assert done.returncode == 0 and "Traceback" not in done.stderr and "Broken" not in done.stderr
    assert {"loss.png", "summary.json"} <= {file.name for file in tmp_path.iterdir()}


def test_a_reader_that_has_enough_of_the_help():
    with closed_pipe() as stdout:
        done = subprocess.run([*COMMAND, "--help"], stdout=stdout, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("arguments", [["info", "--preset", "tiny"], ["--help"]])
def test_a_full_disk_behind_stdout(arguments):
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith("standard output: No space left on device")
    assert "Traceback" not in done.stderr and "Exception" not in done.stderr


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "cp437", "utf-8"])
@pytest.mark.parametrize("line", ["info --preset tiny", "info --preset behemoth --write", "serve --help"])
def test_an_encoding_without_our_characters(line, encoding):
    """A unit keeps its meaning: us for microseconds."""
    environment = {**os.environ, "PYTHONIOENCODING": encoding}
    done = subprocess.run([*COMMAND, *line.split()], env=environment, capture_output=True)
    assert done.returncode == 0 and b"Traceback" not in done.stderr, done.stderr
    text = done.stdout.decode(encoding)
    assert "\\" not in text and "?" not in text and ("\ufffd" not in text)
    if line == "info --preset tiny":
        assert f" {'u' if encoding == 'ascii' else 'µ'}s" in text


def test_a_locale_of_ascii(tmp_path):
    """Files are read and written as UTF-8, whatever the locale says; names of files are escaped."""
    environment = {**os.environ, "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}
    output = tmp_path / "Ausgabe für alle"
    done = subprocess.run([*COMMAND, *SHORT, "--output", output], env=environment, capture_output=True)
    assert done.returncode == 0, done.stderr
    assert b"Ausgabe f\\udcc3\\udcbcr alle/loss.png" in done.stdout and (output / "loss.png").exists()


def test_errors_without_a_file(monkeypatch, capsys):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr("flashtrain.cli.info.controller_memories", full)
    assert run("info", "--preset", "tiny") == 2
    assert capsys.readouterr().err.splitlines()[-1] == "flashtrain info: No space left on device"


def test_interrupted_while_importing():
    """Ctrl-C comes while NumPy is imported, which takes most of the start."""
    script = (
        "import sys\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name == 'numpy': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "from flashtrain.cli.main import main\n"
        "sys.exit(main(['train']))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (130, "flashtrain: interrupted\n")


def test_terminated(monkeypatch, capsys):
    """SIGTERM unwinds the command, so that its temporary folders are removed."""
    cleaned = []

    def wait(*_):
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            cleaned.append(True)

    monkeypatch.setattr("flashtrain.cli.info.controller_memories", wait)
    before = signal.getsignal(signal.SIGTERM)
    assert run("info", "--preset", "tiny") == 143
    assert capsys.readouterr().err.splitlines()[-1] == "flashtrain info: terminated"
    assert cleaned and signal.getsignal(signal.SIGTERM) == before


def test_module_and_script_are_the_same(capsys):
    done = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True)
    assert run("--version") == 0
    assert done.stdout == capsys.readouterr().out != ""


@pytest.mark.parametrize("line", ["--help", "fly", "info --help", "area --help", "powercut --help"])
def test_help_comes_at_once(line):
    """What simulates nothing imports little, and takes a quarter of a second of processor time."""
    script = (
        "import sys, time; before = len(sys.modules)\n"
        "from contextlib import suppress; from flashtrain.cli.main import main\n"
        f"with suppress(SystemExit): main({line.split()})\n"
        "print(len(sys.modules) - before, time.process_time(), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    modules, seconds = done.stderr.splitlines()[-1].split()
    assert int(modules) <= 150 and float(seconds) < 0.25


def test_console_without_a_terminal(capsys):
    console = Console()
    console.say("result")
    for step in range(100):
        console.progress(f"step {step}")
    console.document({"a": 1})
    output = capsys.readouterr()
    assert output.out == "result\n"
    assert output.err == "# step 0\n"  # the others came too soon after it


def test_console_with_json(capsys):
    console = Console(as_json=True)
    console.say("result")
    console.document({"a": 1})
    output = capsys.readouterr()
    assert output.out == '{\n  "a": 1\n}\n'
    assert output.err == "result\n"


def test_table():
    assert table(("name", "n"), [("a", "1"), ("long name", "22")]) == (
        "name        n\na           1\nlong name  22"
    )


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        (256 << 20, "256 MiB"),
        (2**41, "2.0 TiB"),
    ],
)
def test_byte_count(count, text):
    assert byte_count(count) == text


def test_names_of_others_do_not_move_the_terminal(capsys):
    """Control characters, marks of direction and halves of characters are shown, and not sent."""
    console = Console()
    for write in (console.say, console.step, console.error, console.progress):
        write("host \x1b]0;title\x07\x9b2J\u202e\udc80 \u00b5s, 10\u00a0%")
    console.say("two\nlines")
    out, err = capsys.readouterr()
    assert out == "host \\x1b]0;title\\x07\\x9b2J\\u202e\\udc80 \u00b5s, 10\u00a0%\ntwo\nlines\n"
    assert err.count("\\x1b]0;title\\x07\\x9b2J\\u202e\\udc80") == 3 and err.count("\n") == 3
