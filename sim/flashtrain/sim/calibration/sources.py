"""A name for the RTL that stages were measured on."""

from pathlib import Path

from flashtrain import rtl, spec
from flashtrain.native.build_cache import files_key


def rtl_key() -> str:
    """A name for the content of the RTL's sources, and of the contract that they are made from."""
    files = {}
    for package in (rtl, spec):
        folder = Path(str(package.__file__)).parent
        sources = (path for path in folder.rglob("*") if path.suffix in (".py", ".sv"))
        files |= {
            f"{folder.name}/{path.relative_to(folder)}": path.read_text(encoding="utf-8") for path in sources
        }
    return files_key(files)
