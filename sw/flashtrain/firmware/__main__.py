"""Writes the firmware of a drive with its tables: `python -m flashtrain.firmware FOLDER --preset small`."""

import argparse
from pathlib import Path

from flashtrain.nvme.subsystem.settings import SubsystemSettings
from flashtrain.spec import preset
from flashtrain.spec.streams import NODES

from .sources import write_firmware
from .tables import firmware_tables


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m flashtrain.firmware", description=__doc__)
    parser.add_argument("folder", type=Path, help="folder for the files, which is made if it is missing")
    parser.add_argument("--preset", default="small", help="configuration of the controller")
    parser.add_argument("--node", choices=sorted(NODES), default="single", help="table of streams")
    parser.add_argument("--slots", type=int, default=64, help="commands at once")
    parser.add_argument("--most-bytes", type=int, default=1 << 20, help="of data of a command")
    parser.add_argument("--queues", type=int, default=8, help="I/O queue pairs")
    parser.add_argument("--entries", type=int, default=1024, help="of a queue")
    parser.add_argument("--serial", default="1", help="serial number of the drive")
    options = parser.parse_args()
    settings = SubsystemSettings(queues=options.queues, entries=options.entries)
    config, node = preset(options.preset), NODES[options.node]
    tables = firmware_tables(config, node, options.slots, options.most_bytes, settings, options.serial)
    for path in write_firmware(options.folder, tables):
        print(path)


if __name__ == "__main__":
    main()
