"""FST files are compressed by lz4, whose header few systems have from the start."""

import subprocess

from flashtrain.native.compiler import cxx_compiler
from flashtrain.spec import FlashtrainError


class HeaderMissing(FlashtrainError):
    """A header that FST files need is not installed."""


def require_lz4() -> None:
    """Raise `HeaderMissing` unless the compiler finds the headers of lz4 and zlib."""
    words = [cxx_compiler(), "-E", "-x", "c++", "-"]
    text = "#include <lz4.h>\n#include <zlib.h>\n"
    if subprocess.run(words, input=text, text=True, capture_output=True, check=False).returncode:
        raise HeaderMissing(
            "waves as .fst need the headers of lz4 and zlib: 'apt-get install liblz4-dev zlib1g-dev' brings"
            " them; .vcd needs none"
        )
