"""`flashtrain verilog`: lint-clean, with a manifest, and the same bytes each time, also from a file."""

import json

import pytest

from flashtrain.cli.main import main
from flashtrain.rtl.channel.read_buffer.page_corrector import PageCorrector
from flashtrain.rtl.export.systemverilog import export_design, lint
from flashtrain.spec import config_text, preset


def test_verilog(tmp_path, capsys):
    assert main(["verilog", "--preset", "tiny", "--output", str(tmp_path / "a"), "--json"]) == 0
    written = json.loads(capsys.readouterr().out)
    assert set(written) == {"flashtrain", "flashtrain_die"}
    file = tmp_path / "file.toml"
    file.write_text(config_text(preset("tiny")))
    assert main(["verilog", "--config", str(file), "--output", str(tmp_path / "b"), "--no-lint"]) == 0

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


@pytest.mark.parametrize("name", ["tiny_ecc", "small_ecc"])
def test_error_correction_is_lint_clean(name, tmp_path):
    config = preset(name)
    assert config.code is not None
    design = export_design(PageCorrector(config, config.code), "corrector")
    lint(design.write(tmp_path), design.name)
