"""Breaches of the rules of SET FEATURES, for a die that has a read level, and how they are refused."""

from flashtrain.spec.nand import DieCommand as C
from flashtrain.spec.nand import Feature
from tests.rtl.die.nand_driver import NandDriver

LEVEL = Feature.READ_LEVEL
BLOCK = 1  # page 0 of its planes 0 and 1 is programmed


def parameters_are(*values: int, feature: int = LEVEL):
    """SET FEATURES with these parameters."""

    async def breach(nand: NandDriver):
        await nand.set_feature(feature, bytes(values))

    return breach


async def unknown_feature(nand: NandDriver):
    await nand.set_feature(0x01, bytes(4))


async def too_few_parameters(nand: NandDriver):
    await nand.set_feature(LEVEL, bytes([1, 0]))
    await nand.command(C.READ_STATUS)


async def no_address(nand: NandDriver):
    await nand.command(C.SET_FEATURES)
    await nand.command(C.READ_STATUS)


async def edges_differ(nand: NandDriver):
    await nand.command(C.SET_FEATURES)
    await nand.address(LEVEL, 1)
    await nand.data_in(bytes([1, 2, 0, 0, 0, 0, 0, 0]))


async def tadl(nand: NandDriver):
    await nand.command(C.SET_FEATURES)
    await nand.address(LEVEL, 1)
    await nand.data_in(bytes([1, 1, 0, 0, 0, 0, 0, 0]), after=nand.cycles("tadl") - 1)


async def twb(nand: NandDriver):
    await nand.set_feature(LEVEL, bytes(4))
    await nand.until(nand.now + nand.cycles("twb") - nand.cycles("twc"))
    await nand.command(C.READ_STATUS)


async def sense_before_it_is_set(nand: NandDriver):
    await nand.set_feature(LEVEL, bytes([1, 0, 0, 0]))
    await nand.wait(nand.cycles("twb"))
    await nand.command(C.READ)
    await nand.full_address(0, BLOCK, 0)
    await nand.command(C.READ_CONFIRM)


async def while_programming(nand: NandDriver):
    await nand.program([(0, BLOCK)], 1, [bytes(nand.geometry.raw_page_bytes)])
    await nand.set_feature(LEVEL, bytes(4))


async def while_busy(nand: NandDriver):
    await nand.command(C.READ)
    await nand.full_address(0, BLOCK, 0)
    await nand.command(C.READ_CONFIRM)
    await nand.wait(nand.cycles("twb"))
    await nand.set_feature(LEVEL, bytes([1, 0, 0, 0]))


async def in_a_cache_read(nand: NandDriver):
    await nand.read([(0, BLOCK), (1, BLOCK)], 0)
    await nand.read([(0, BLOCK)], 0, last=C.READ_CACHE)
    await nand.set_feature(LEVEL, bytes(4))


async def within_a_multi_plane_command(nand: NandDriver):
    await nand.command(C.READ)
    await nand.full_address(0, BLOCK, 0)
    await nand.confirm(C.READ_MULTI_PLANE)
    await nand.set_feature(LEVEL, bytes(4))


async def within_a_suspended_read(nand: NandDriver):
    await nand.begin_suspended_read([(0, BLOCK)], 0)
    await nand.suspended_read_done()
    await nand.set_feature(LEVEL, bytes(4))


FEATURE_BREACHES = {
    unknown_feature: "feature 01h, which there is not",
    parameters_are(4, 0, 0, 0): "parameter 1 of the read level is 4",
    parameters_are(1, 0, 2, 0): "parameter 3 of the read level is 2",
    parameters_are(1, 0, 0, 0, 0): "more than 4 parameters of a feature",
    too_few_parameters: "command 70h after 2 of the 4 parameters of a feature",
    no_address: "command 70h after 0 of the 1 address cycles of efh",
    edges_differ: "a parameter of a feature that is not the same at both edges",
    tadl: "tADL: 5 cycles instead of at least 6",
    twb: "tWB: 59 cycles instead of at least 60",
    sense_before_it_is_set: "command 00h to a busy die",
    while_programming: "command efh while the array may be programming",
    while_busy: "command efh to a busy die",
    in_a_cache_read: "command efh in a cache read",
    within_a_multi_plane_command: "command efh within a multi-plane operation, which goes on with 00h",
    within_a_suspended_read: "command efh before BFh has ended a suspended read",
}
