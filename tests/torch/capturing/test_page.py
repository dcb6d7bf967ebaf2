"""The code in docs/capture.md runs, and prints what stands there."""

import re
import sys
from pathlib import Path

from flashtrain.cli.main import main
from flashtrain.torch.networks import NETWORKS

PAGE = (Path(__file__).parents[3] / "docs" / "capture.md").read_text(encoding="utf-8")


def test_blocks(tmp_path, monkeypatch, capsys):
    function, script = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    (output,) = re.findall(r"```\n(saved.*?)```", PAGE, re.DOTALL)
    (tmp_path / "my_net.py").write_text(function, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    exec(compile(script, "capture.md", "exec"), {})
    printed = "".join(f"{line.rstrip()}\n" for line in capsys.readouterr().out.splitlines())
    assert printed == output
    assert main(["sequence", "capture", "my_net:tagger", "--batch", "16", "--out", "tagger.json"]) == 0
    assert main(["sequence", "show", "tagger.json"]) == 0
    sys.modules.pop("my_net")


def test_all_networks_are_listed():
    assert re.findall(r"^\| `([\w.-]+)`", PAGE, re.MULTILINE) == list(NETWORKS)
