"""Yosys of the wheel `pyosys`, a library, with those options of its command that this tree and `sby` use.

    python -m flashtrain.sim.yosys [-q] [-l LOG] [-p COMMANDS | FILE]

YoWASP's Yosys is WebAssembly: its first start compiles it for a minute.
"""

import argparse
import os

from pyosys import libyosys


def main() -> None:
    parser = argparse.ArgumentParser("yosys")
    parser.add_argument("-q", action="store_true", help="print errors only")
    parser.add_argument("-l", metavar="LOG", help="print to this file instead")
    parser.add_argument("-p", metavar="COMMANDS", help="run these commands")
    parser.add_argument("--version", action="version", version=libyosys.yosys_maybe_version().strip())
    parser.add_argument("file", nargs="?", help="run the commands of this file")
    options = parser.parse_args()
    if options.l or options.q:
        os.dup2(os.open(options.l or os.devnull, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666), 1)
    libyosys.run_pass(options.p or f"script {options.file}")


if __name__ == "__main__":
    main()
