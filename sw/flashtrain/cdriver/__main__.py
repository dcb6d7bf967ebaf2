"""Writes the C driver with the header of the contract: `python -m flashtrain.cdriver FOLDER`."""

import argparse
from pathlib import Path

from .sources import write_driver


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m flashtrain.cdriver", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder for the files, which is made if it is missing")
    for path in write_driver(parser.parse_args().folder):
        print(path)


if __name__ == "__main__":
    main()
