"""Arrays in flash: append, read back, drop, reset.

Run it with `python examples/append_and_read.py [functional|rtl]`. append_and_read.txt has its output.
"""

import sys

import numpy as np

from flashtrain.cli.links import LINKS
from flashtrain.host import CommandError, StaleHandle, open_device
from flashtrain.spec import Port

link = LINKS[sys.argv[1] if len(sys.argv) > 1 else "functional"].factory

with open_device("small", link) as device:
    activations = device.stream("activations", Port.CORE)

    # Any array; the device chooses its place, and the handle refers to it.
    images = np.random.default_rng(0).random((128, 8, 8), np.float32)
    stored = activations.append(images)
    print(f"{stored.nbytes:,} bytes in {stored.blocks} blocks from block {stored.lba} on")
    print("read back the same:", np.array_equal(activations.read(stored), images))

    # Many transfers in flight.
    pieces = [activations.append_async(images[i : i + 16]) for i in range(0, 128, 16)]
    print("blocks:", [piece.lba for piece in device.wait(pieces)])

    # Nothing is overwritten, and the table of streams limits each port.
    try:
        device.stream("activations", Port.HOST).append(images)
    except CommandError as error:
        print(error)

    # What is not needed any more is dropped; its zone is erased when it is full and all in it was dropped.
    activations.drop(stored)
    try:
        activations.read(stored)
    except StaleHandle as error:
        print(error)

    # A reset empties the whole stream at once.
    activations.reset()
    print(
        "written after the reset:", sum(zone.capacity - zone.room for zone in activations.report()), "blocks"
    )
