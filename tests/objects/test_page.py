"""The page as a new user meets it: the server of the command line, and the script."""

import re
import signal
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "objects.md"


def serve(image: Path) -> tuple[subprocess.Popen[str], str]:
    """A server as on the page, and its port."""
    options = f"--node objects --link functional --image {image} --port 0".split()
    command = [sys.executable, "-m", "flashtrain.cli.main", "serve", *options]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    for line in process.stderr:
        if found := re.search(r"listening on 127.0.0.1:(\d+)", line):
            return process, found[1]
    raise AssertionError("the command does not say where it listens")


def stop(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGTERM)
    assert process.communicate(timeout=60) and process.returncode == 0


def test_the_page_prints_what_it_says(tmp_path):
    """Also from a second run of the server with the same image."""
    text = PAGE.read_text(encoding="utf-8")
    (script,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    again = "import fsspec\nfs = fsspec.filesystem('flash', port=4420)\nprint(fs.find('objects'))\n"
    printed = []
    for block in (script, again):
        process, port = serve(tmp_path / "flash.img")
        try:
            done = subprocess.run(
                [sys.executable, "-c", block.replace("4420", port)], capture_output=True, text=True
            )
            stop(process)
        finally:
            process.kill()
            process.wait()
        assert done.returncode == 0, done.stderr
        printed.append(done.stdout)
    assert f"```\n{printed[0]}```" in text
    assert printed[1] in printed[0]
