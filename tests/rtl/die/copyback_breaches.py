"""Breaches of the rules of copyback.

Page 0 of `BLOCK` is programmed on planes 0 and 1, the rest is erased.
"""

from flashtrain.spec.nand import DieCommand as C
from tests.rtl.die.nand_driver import NandDriver

BLOCK, TARGET = 1, 2


async def copy_of_a_plain_read(nand: NandDriver):
    await nand.read([(0, BLOCK)], 0)
    await nand.copy_to(0, TARGET, 0)


async def copy_after_another_command(nand: NandDriver):
    await nand.copy_from(0, BLOCK, 0)
    await nand.erase([(0, TARGET)])
    await nand.copy_to(0, TARGET, 0)


async def copy_of_several_pages(nand: NandDriver):
    await nand.read([(0, BLOCK), (1, BLOCK)], 0, last=C.COPYBACK_READ_CONFIRM)


async def copy_to_another_plane(nand: NandDriver):
    await nand.copy_from(0, BLOCK, 0)
    await nand.copy_to(1, TARGET, 0)


async def copy_with_other_data(nand: NandDriver):
    await nand.copy_from(0, BLOCK, 0)
    await nand.command(C.CHANGE_WRITE_COLUMN)
    await nand.full_address(0, TARGET, 0)
    await nand.data_in(bytes(64))


async def copy_in_a_cache_program(nand: NandDriver):
    await nand.copy_from(0, BLOCK, 0)
    await nand.copy_to(0, TARGET, 0, last=C.PROGRAM_CACHE)


async def address_of_a_copy_cut_short(nand: NandDriver):
    await nand.copy_from(0, BLOCK, 0)
    await nand.command(C.CHANGE_WRITE_COLUMN)
    await nand.address(0, 2)
    await nand.command(C.PROGRAM_CONFIRM)


async def copy_out_of_order(nand: NandDriver):
    await nand.copy_from(0, BLOCK, 0)
    await nand.copy_to(0, TARGET, 1)


NOT_ERASED = "program of plane 0 block 1 page 0 without an erase"
"""The die believes what it is told, and programs the page that it was to read."""

COPYBACK_BREACHES = {
    copy_of_a_plain_read: ("command 85h without the one that it belongs to", NOT_ERASED),
    copy_after_another_command: "command 85h without the one that it belongs to",
    copy_of_several_pages: "command 35h of several pages",
    copy_to_another_plane: "a page of plane 0 is copied to plane 1",
    copy_with_other_data: "data in without 80h and its address",
    copy_in_a_cache_program: "command 15h without the one that it belongs to",
    address_of_a_copy_cut_short: ("command 10h after 2 of the 5 address cycles of 85h", NOT_ERASED),
    copy_out_of_order: "program of plane 0 block 2 page 1 out of order: the next page is 0",
}
