"""Units of error correction, of which the tests of the export have none: their text is lint-clean."""

import pytest

from flashtrain.rtl.channel.read_buffer.page_corrector import PageCorrector
from flashtrain.rtl.export.systemverilog import export_design, lint
from flashtrain.spec import preset


@pytest.mark.parametrize("name", ["tiny_ecc", "small_ecc"])
def test_error_correction_is_lint_clean(name, tmp_path):
    config = preset(name)
    assert config.code is not None
    design = export_design(PageCorrector(config, config.code), "corrector")
    lint(design.write(tmp_path), design.name)
