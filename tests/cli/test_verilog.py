"""`flashtrain verilog`: lint-clean, with a manifest, and the same bytes each time."""

import json

from flashtrain.cli.main import main


def test_verilog(tmp_path, capsys):
    assert main(["verilog", "--preset", "tiny", "--output", str(tmp_path / "a"), "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert set(written) == {"flashtrain", "flashtrain_die"}
    assert main(["verilog", "--preset", "tiny", "--output", str(tmp_path / "b"), "--no-lint"]) == 0

    first = {path.name: path.read_bytes() for path in (tmp_path / "a" / "tiny").iterdir()}
    again = {path.name: path.read_bytes() for path in (tmp_path / "b" / "tiny").iterdir()}
    assert first == again

    manifest = json.loads(first["flashtrain.json"])
    assert manifest["name"] == "flashtrain"
    assert manifest["configuration"]["geometry"]["channels"] == 2
    assert manifest["configuration"]["timing"]["tprog"] == [1, 4000]
    assert set(manifest["files"]) <= set(first)
    ports = {port["name"]: port["width"] for port in manifest["modules"]["flashtrain"]}
    assert ports["irq"] == 1
    assert ports["data__rdata"] == 32
    assert str(tmp_path).encode() not in b"".join(first.values())
