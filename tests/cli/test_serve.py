"""`flashtrain serve` as a user meets it."""

import re
import signal
import subprocess
import sys
import threading

import pytest

from flashtrain.cli.main import main
from flashtrain.host import open_device
from flashtrain.nvme.client.authentication import Offer
from flashtrain.nvme.client.host import Host
from flashtrain.nvme.subsystem.settings import DEFAULT_NQN
from flashtrain.nvme.wire.dhchap import make_secret
from flashtrain.spec.streams import SERVE_NODE

SECRET = make_secret(bytes(range(32)))


def test_a_host_is_served_until_sigterm(tmp_path):
    """The command says where it listens and for whom, loses its power at SIGUSR1, and ends in order."""
    (tmp_path / "secret").write_text(SECRET + "\n", encoding="utf-8")
    options = f"--preset tiny --link functional --port 0 --image {tmp_path}/flash.img".split()
    options += ["--dhchap-secret", str(tmp_path / "secret")]
    command = [sys.executable, "-m", "flashtrain.cli.main", "serve", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    recovered = threading.Event()
    try:
        assert process.stderr is not None
        for line in process.stderr:
            if found := re.search(
                r"listening on 127.0.0.1:(\d+), open to this machine only; subsystem (\S+)", line
            ):
                break
        else:
            raise AssertionError("the command does not say where it listens")
        assert found[2] == DEFAULT_NQN
        rest: list[str] = []

        def read() -> None:
            assert process.stderr is not None
            for line in process.stderr:
                rest.append(line)
                if "recovered" in line:
                    recovered.set()

        thread = threading.Thread(target=read)
        thread.start()
        with Host(("127.0.0.1", int(found[1])), DEFAULT_NQN, offer=Offer(SECRET)) as host:
            host.write(1, 0, b"x" * 512)
        process.send_signal(signal.SIGUSR1)
        assert recovered.wait(20)
        with Host(("127.0.0.1", int(found[1])), DEFAULT_NQN, offer=Offer(SECRET)) as host:
            assert host.read(1, 0, 1) == b"x" * 512
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
        thread.join()
        assert "1 reads, 1 writes; 0 commands refused, 0 of them sent again" in rest[-1]
        with open_device(image=tmp_path / "flash.img") as device:
            assert bytes(device.stream(SERVE_NODE.streams[0].name).read_blocks(0, 1)) == b"x" * 512
    finally:
        process.kill()
        process.wait()


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--address", "192.0.2.1"], "192.0.2.1:0: "),
        (["--dhchap-secret", "LICENSE"], "the secret is none of the form"),
        (["--dhchap-secret", "no/such/file"], "no/such/file: cannot be read: No such file"),
        (["--allow-host", "foo"], "a host that may connect is 'foo'; expected a name such as nqn."),
        (["--address", ""], "the address is ''; expected one of IP"),
    ],
)
def test_mistakes_are_one_line(arguments, message, capsys):
    assert main(["serve", "--preset", "tiny", "--link", "functional", "--port", "0", *arguments]) == 2
    errors = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("#")]
    assert len(errors) == 1 and errors[0].startswith("flashtrain serve: ") and message in errors[0]


@pytest.mark.parametrize("text", ["", " \n\n"])
def test_a_file_without_a_secret_serves_nobody(text, tmp_path, capsys):
    (tmp_path / "secret").write_text(text, encoding="utf-8")
    assert (
        main(["serve", "--link", "functional", "--port", "0", "--dhchap-secret", f"{tmp_path}/secret"]) == 2
    )
    assert f"{tmp_path}/secret: the secret is none of the form" in capsys.readouterr().err


def test_an_image_has_its_configuration(tmp_path, capsys):
    """The second run names no preset; another one than the image's is refused."""
    options = f"serve --link functional --port 0 --seconds 0.1 --image {tmp_path}/flash.img".split()
    assert main([*options, "--preset", "tiny"]) == 0
    assert main(options) == 0
    assert capsys.readouterr().err.count("preset tiny") == 2
    assert main([*options, "--preset", "small"]) == 2


def test_a_port_that_is_none(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["serve", "--port", "70000"])
    assert "expected a port from 0 to 65535" in capsys.readouterr().err
