"""A driver that breaks the rules: each breach is refused once by each who sees it, in words that name it.

Under Verilator the messages are read back from the file that recorder.cpp writes; under Icarus they are
counted.
"""

from pathlib import Path

import cocotb
from cocotb.triggers import RisingEdge

from flashtrain.sim.bench.parameters import bench_parameters
from flashtrain.spec.nand import DieCommand as C
from flashtrain.spec.optimizer import OptimizerCode
from flashtrain.spec.update import UpdateHeader
from tests.rtl.die.copyback_breaches import COPYBACK_BREACHES
from tests.rtl.die.die_configs import config_named
from tests.rtl.die.feature_breaches import FEATURE_BREACHES
from tests.rtl.die.nand_driver import NandDriver, started

CONFIG = config_named(bench_parameters()["config"])
GEOMETRY, TIMING = CONFIG.geometry, CONFIG.timing
PAGE = GEOMETRY.raw_page_bytes
WORD = CONFIG.die_word_bytes
BLOCK = 1  # page 0 of its planes 0 and 1 is programmed before each breach, the rest is erased
MESSAGES = Path("violations.txt")


async def no_die_selected(nand: NandDriver):
    nand.deselect()
    await nand.command(C.READ_STATUS)


async def two_dies_selected(nand: NandDriver):
    nand.dut.bus__ce_n.value = 0
    await nand.command(C.READ_STATUS)


async def ce_n_changes_during_data(nand: NandDriver):
    await nand.command(C.PROGRAM)
    await nand.full_address(0, BLOCK, 1)
    cocotb.start_soon(nand.data_in(bytes(64)))
    await nand.wait(TIMING.cycles("tadl") + 5)
    nand.select(1)
    await nand.wait(50)


async def twc(nand: NandDriver):
    await nand.command(C.READ_ID)
    await nand.cycle(0x20, ale=1, cycles=TIMING.cycles("twc") - 1)


async def neither_cle_nor_ale(nand: NandDriver):
    await nand.cycle(0x00)


async def both_cle_and_ale(nand: NandDriver):
    await nand.cycle(0x00, cle=1, ale=1)


async def data_in_a_command_cycle(nand: NandDriver):
    dut = nand.dut
    dut.bus__cle.value = 1
    await nand.wait(3)
    dut.bus__dqs_o.value = 1
    await nand.wait(3)
    dut.bus__dqs_o.value = dut.bus__cle.value = 0


async def re_while_driving(nand: NandDriver):
    dut = nand.dut
    dut.bus__cle.value = 1
    await nand.wait(3)
    dut.bus__re.value = 1
    await nand.wait(3)
    dut.bus__re.value = dut.bus__cle.value = 0


async def trhw(nand: NandDriver):
    await nand.command(C.READ_STATUS)
    nand.data_from = nand.last_we + TIMING.cycles("twhr")
    await nand.data_out(2, turnaround=TIMING.cycles("trhw") - 1)
    await nand.command(C.READ_STATUS)


async def tchz(nand: NandDriver):
    await nand.command(C.READ_STATUS)
    nand.data_from = nand.last_we + TIMING.cycles("twhr")
    await nand.data_out(2, turnaround=TIMING.cycles("tchz") - 1)
    nand.select(1)
    await nand.command(C.READ_STATUS)


async def tchz_between_outputs(nand: NandDriver):
    for die in (1, 0):
        nand.select(die)
        await nand.command(C.READ_STATUS)
    nand.data_from = nand.last_we + TIMING.cycles("twhr")
    await nand.data_out(2, turnaround=TIMING.cycles("tchz") - 1)
    nand.select(1)
    await nand.data_out(2)


async def unknown_command(nand: NandDriver):
    await nand.command(0xA5)
    await nand.address(0, 5)


async def feature_of_a_die_that_has_none(nand: NandDriver):
    await nand.command(C.SET_FEATURES)
    await nand.address(0x89, 1)


async def command_to_a_busy_die(nand: NandDriver):
    await nand.load(0, BLOCK, 1, bytes(PAGE))
    await nand.command(C.PROGRAM_CONFIRM)
    await nand.wait(TIMING.cycles("twb"))
    await nand.command(C.READ)
    await nand.full_address(0, BLOCK, 0)
    await nand.command(C.READ_CONFIRM)


async def twb(nand: NandDriver):
    await nand.load(0, BLOCK, 1, bytes(PAGE))
    await nand.command(C.PROGRAM_CONFIRM)
    await nand.wait(TIMING.cycles("twb") - TIMING.cycles("twc") - 1)
    await nand.command(C.READ_STATUS)


async def missing_address_cycle(nand: NandDriver):
    await nand.command(C.READ)
    await nand.address(nand.row(0, BLOCK, 0) << 16, 4)
    await nand.command(C.READ_CONFIRM)


async def additional_address_cycle(nand: NandDriver):
    await nand.command(C.ERASE)
    await nand.address(nand.row(0, BLOCK, 0), 4)
    await nand.command(C.ERASE_CONFIRM)


async def confirm_without_command(nand: NandDriver):
    await nand.command(C.ERASE_CONFIRM)


async def program_confirm_after_read(nand: NandDriver):
    await nand.command(C.READ)
    await nand.full_address(0, BLOCK, 1)
    await nand.command(C.PROGRAM_CONFIRM)


async def row_too_wide(nand: NandDriver):
    await nand.command(C.ERASE)
    await nand.address(1 << 20, 3)
    await nand.wait(1)


async def column_past_the_page(nand: NandDriver):
    await nand.command(C.PROGRAM)
    await nand.full_address(0, BLOCK, 1, column=PAGE)


async def column_within_a_word(nand: NandDriver):
    await nand.command(C.PROGRAM)
    await nand.full_address(0, BLOCK, 1, column=WORD // 2)


async def broken_multi_plane(nand: NandDriver):
    await nand.load(0, BLOCK, 1, bytes(PAGE))
    await nand.confirm(C.PROGRAM_MULTI_PLANE)
    await nand.command(C.ERASE)
    await nand.address(nand.row(1, BLOCK, 0), 3)
    await nand.command(C.ERASE_CONFIRM)


async def plane_twice(nand: NandDriver):
    await nand.read([(0, BLOCK), (0, BLOCK)], 0)


async def pages_differ(nand: NandDriver):
    await nand.load(0, BLOCK, 1, bytes(PAGE))
    await nand.confirm(C.PROGRAM_MULTI_PLANE)
    await nand.load(2, BLOCK, 0, bytes(PAGE))


async def cache_read_without_read(nand: NandDriver):
    await nand.program([(0, BLOCK)], 1, [bytes(PAGE)], last=C.PROGRAM_CONFIRM)
    await nand.read([(0, BLOCK)], 0)
    await nand.reset_die()
    await nand.confirm(C.READ_CACHE)


async def cache_read_past_the_block(nand: NandDriver):
    for page in range(1, GEOMETRY.pages):
        await nand.program([(0, BLOCK)], page, [bytes(PAGE)], last=C.PROGRAM_CONFIRM)
    await nand.read([(0, BLOCK)], GEOMETRY.pages - 1)
    await nand.command(C.READ_CACHE)


async def cache_read_end_without_cache_read(nand: NandDriver):
    await nand.read([(0, BLOCK)], 0)
    await nand.confirm(C.READ_CACHE_END)


async def read_while_programming(nand: NandDriver):
    await nand.program([(0, BLOCK)], 1, [bytes(PAGE)])
    await nand.read([(1, BLOCK)], 0)


async def erase_in_a_cache_read(nand: NandDriver):
    await nand.program([(0, BLOCK)], 1, [bytes(PAGE)], last=C.PROGRAM_CONFIRM)
    await nand.read([(0, BLOCK)], 0)
    await nand.confirm(C.READ_CACHE)
    await nand.erase([(0, BLOCK)])


async def data_in_without_program(nand: NandDriver):
    await nand.data_in(bytes(64))


async def data_in_before_the_address(nand: NandDriver):
    await nand.command(C.PROGRAM)
    await nand.address(0, 3)
    await nand.data_in(bytes(64))


async def tadl(nand: NandDriver):
    await nand.command(C.PROGRAM)
    await nand.full_address(0, BLOCK, 1)
    await nand.data_in(bytes(64), after=TIMING.cycles("tadl") - 1)


async def tccs_of_data_in(nand: NandDriver):
    await nand.load(0, BLOCK, 1, bytes(64))
    await nand.command(C.CHANGE_WRITE_COLUMN)
    await nand.address(2 * WORD, 2)
    await nand.data_in(bytes(64), after=TIMING.cycles("tccs") - 1)


async def change_write_column_without_program(nand: NandDriver):
    await nand.command(C.CHANGE_WRITE_COLUMN)
    await nand.address(0, 2)


async def data_in_past_the_page(nand: NandDriver):
    await nand.load(0, BLOCK, 1, bytes(PAGE + 8))


async def data_in_of_six_bytes(nand: NandDriver):
    await nand.load(0, BLOCK, 1, bytes(6))
    await nand.confirm(C.PROGRAM_CONFIRM)


async def program_without_data(nand: NandDriver):
    await nand.command(C.PROGRAM)
    await nand.full_address(0, BLOCK, 1)
    await nand.confirm(C.PROGRAM_CONFIRM)


async def data_out_without_source(nand: NandDriver):
    await nand.data_out(2)


async def data_out_without_selected_plane(nand: NandDriver):
    await nand.read([(0, BLOCK), (1, BLOCK)], 0)
    await nand.data_out(2)


async def data_out_of_a_busy_die(nand: NandDriver):
    await nand.command(C.READ)
    await nand.full_address(0, BLOCK, 0)
    await nand.command(C.READ_CONFIRM)
    nand.data_from = nand.last_we + TIMING.cycles("twb")
    await nand.data_out(2)


async def twhr(nand: NandDriver):
    await nand.command(C.READ_STATUS)
    nand.data_from = nand.last_we + TIMING.cycles("twhr") - 1
    await nand.data_out(2)


async def tccs_of_data_out(nand: NandDriver):
    await nand.read([(0, BLOCK), (1, BLOCK)], 0)
    await nand.choose(1, BLOCK, 0)
    nand.data_from -= 1
    await nand.data_out(2)


async def trr(nand: NandDriver):
    await nand.read([(0, BLOCK)], 0)
    nand.data_from -= 1
    await nand.data_out(2)


async def data_out_past_the_page(nand: NandDriver):
    await nand.read([(0, BLOCK)], 0)
    await nand.data_out(PAGE + 2)


async def plane_that_was_not_read(nand: NandDriver):
    await nand.read([(0, BLOCK)], 0)
    await nand.choose(1, BLOCK, 0)


async def change_read_column_without_plane(nand: NandDriver):
    await nand.change_read_column(0)


async def program_without_erase(nand: NandDriver):
    await nand.program([(0, BLOCK)], 0, [bytes(PAGE)], last=C.PROGRAM_CONFIRM)


async def program_out_of_order(nand: NandDriver):
    await nand.program([(0, BLOCK), (1, BLOCK + 1)], 1, [bytes(PAGE)] * 2, last=C.PROGRAM_CONFIRM)


async def read_of_an_unwritten_page(nand: NandDriver):
    await nand.erase([(2, BLOCK)])
    await nand.read([(0, BLOCK), (2, BLOCK)], 0)


async def block_that_does_not_exist(nand: NandDriver):
    await nand.erase([(0, GEOMETRY.blocks)])


async def page_that_does_not_exist(nand: NandDriver):
    await nand.read([(0, BLOCK)], GEOMETRY.pages)


HEADER = UpdateHeader.code.put(OptimizerCode.SGD).to_bytes(UpdateHeader.BYTES, "little")  # of no parameters
TARGET = BLOCK + 1


async def load_constants(nand: NandDriver):
    await nand.command(C.LOAD_CONSTANTS)
    await nand.data_in(HEADER)
    await nand.command(C.LOAD_CONSTANTS_CONFIRM)


async def load_gradient(nand: NandDriver, count: int = CONFIG.loaded_page_bytes):
    await nand.command(C.LOAD_GRADIENT)
    await nand.address(nand.row(0, 0, 0), 3)
    await nand.data_in(bytes(count))
    await nand.command(C.LOAD_GRADIENT_CONFIRM)


async def update_plane(nand: NandDriver, plane: int, page: int = 0, target_page: int = 0):
    await nand.command(C.UPDATE_SOURCE)
    await nand.address(nand.row(plane, BLOCK, page), 3)
    await nand.command(C.UPDATE_TARGET)
    await nand.address(nand.row(plane, TARGET, target_page), 3)


async def update(nand: NandDriver):
    """Without waiting for its end."""
    for plane in range(GEOMETRY.planes):
        await update_plane(nand, plane)
        if plane < GEOMETRY.planes - 1:
            await nand.confirm(C.UPDATE_MULTI_PLANE)
    await nand.command(C.UPDATE)


async def prepare_update(nand: NandDriver):
    """Whatever an update needs: all planes of the source are programmed."""
    await nand.program([(2, BLOCK), (3, BLOCK)], 0, [bytes(PAGE)] * 2, last=C.PROGRAM_CONFIRM)
    await nand.idle()
    await load_constants(nand)
    await load_gradient(nand)


async def constants_while_programming(nand: NandDriver):
    await nand.program([(0, BLOCK)], 1, [bytes(PAGE)])
    await load_constants(nand)


async def constants_within_updates(nand: NandDriver):
    await prepare_update(nand)
    await update(nand)
    await nand.ready()
    await load_constants(nand)


async def constants_too_short(nand: NandDriver):
    await nand.command(C.LOAD_CONSTANTS)
    await nand.data_in(HEADER[:56])
    await nand.command(C.LOAD_CONSTANTS_CONFIRM)


async def tadl_of_constants(nand: NandDriver):
    await nand.command(C.LOAD_CONSTANTS)
    await nand.data_in(HEADER, after=TIMING.cycles("tadl") - 1)
    await nand.command(C.LOAD_CONSTANTS_CONFIRM)


async def gradient_without_data(nand: NandDriver):
    await nand.command(C.LOAD_GRADIENT)
    await nand.address(nand.row(0, 0, 0), 3)
    await nand.command(C.LOAD_GRADIENT_CONFIRM)


async def gradient_without_its_source(nand: NandDriver):
    await load_gradient(nand, GEOMETRY.identified_page_bytes)


async def gradient_to_a_die_that_programs(nand: NandDriver):
    await nand.load(0, BLOCK, 1, bytes(PAGE))
    await nand.command(C.PROGRAM_CONFIRM)
    await nand.wait(TIMING.cycles("twb"))
    await load_gradient(nand)


async def update_while_updating(nand: NandDriver):
    await prepare_update(nand)
    await update(nand)
    await nand.wait(TIMING.cycles("twb"))
    await load_gradient(nand)
    await nand.command(C.UPDATE_SOURCE)
    await nand.address(nand.row(0, BLOCK, 1), 3)


async def update_without_new_gradients(nand: NandDriver):
    await prepare_update(nand)
    await update(nand)
    await nand.ready()
    await update(nand)


async def update_without_target(nand: NandDriver):
    await prepare_update(nand)
    await nand.command(C.UPDATE_SOURCE)
    await nand.address(nand.row(0, BLOCK, 0), 3)
    await nand.command(C.UPDATE_MULTI_PLANE)


async def update_of_some_planes(nand: NandDriver):
    await prepare_update(nand)
    await update_plane(nand, 0)
    await nand.command(C.UPDATE)


async def planes_of_an_update_in_disorder(nand: NandDriver):
    await prepare_update(nand)
    await update_plane(nand, 1)


async def update_to_another_plane(nand: NandDriver):
    await prepare_update(nand)
    await nand.command(C.UPDATE_SOURCE)
    await nand.address(nand.row(0, BLOCK, 0), 3)
    await nand.command(C.UPDATE_TARGET)
    await nand.address(nand.row(1, TARGET, 0), 3)


async def target_pages_differ(nand: NandDriver):
    await prepare_update(nand)
    await update_plane(nand, 0)
    await nand.confirm(C.UPDATE_MULTI_PLANE)
    await update_plane(nand, 1, target_page=1)


async def program_within_updates(nand: NandDriver):
    await prepare_update(nand)
    await update(nand)
    await nand.ready()
    await nand.load(0, BLOCK, 1, bytes(PAGE))
    await nand.command(C.PROGRAM_CONFIRM)


async def read_after_updates(nand: NandDriver):
    await prepare_update(nand)
    await update(nand)
    await nand.ready()
    await nand.confirm(C.UPDATE_END)
    await nand.read([(0, BLOCK)], 0)


async def end_without_update(nand: NandDriver):
    await nand.confirm(C.UPDATE_END)


async def target_not_erased(nand: NandDriver):
    await prepare_update(nand)
    await nand.program([(3, TARGET)], 0, [bytes(PAGE)], last=C.PROGRAM_CONFIRM)
    await update(nand)
    await nand.ready()
    await nand.confirm(C.UPDATE_END)


async def copy_without_update(nand: NandDriver):
    await nand.command(C.READ_COPY)
    await nand.address(nand.row(0, 0, 0), 3)


async def tccs_of_copies(nand: NandDriver):
    await prepare_update(nand)
    await update(nand)
    await nand.ready()
    await nand.command(C.READ_COPY)
    await nand.address(nand.row(0, 0, 0), 3)
    await nand.command(C.READ_COPY_CONFIRM)
    nand.data_from = nand.last_we + TIMING.cycles("tccs") - 1
    await nand.data_out(2)


async def tccs_of_statistics(nand: NandDriver):
    await load_constants(nand)
    await nand.command(C.READ_STATISTICS)
    await nand.command(C.READ_STATISTICS_CONFIRM)
    nand.data_from = nand.last_we + TIMING.cycles("tccs") - 1
    await nand.data_out(2)


PLACE = [(0, BLOCK)]


async def programs_during_a_read(nand: NandDriver):
    """A program under way, on another plane than that of the page that is programmed already."""
    await nand.program([(2, BLOCK)], 0, [bytes(PAGE)])


async def suspended_read_within_a_plain_read(nand: NandDriver):
    await nand.command(C.READ)
    await nand.full_address(0, BLOCK, 0)
    await nand.command(C.READ_CONFIRM)
    await nand.wait(TIMING.cycles("twb"))
    await nand.begin_suspended_read(PLACE, 0)


async def suspended_read_within_an_update(nand: NandDriver):
    await prepare_update(nand)
    await update(nand)
    await nand.wait(TIMING.cycles("twb"))
    await nand.begin_suspended_read(PLACE, 0)


async def twb_of_a_suspended_read(nand: NandDriver):
    await nand.load(2, BLOCK, 0, bytes(PAGE))
    await nand.command(C.PROGRAM_CACHE)
    await nand.wait(TIMING.cycles("twb") - TIMING.cycles("twc") - 1)
    await nand.begin_suspended_read(PLACE, 0)


async def suspended_read_of_pages_in_work(nand: NandDriver):
    await programs_during_a_read(nand)
    await nand.begin_suspended_read([(2, BLOCK)], 0)
    await nand.suspended_read_done()


async def suspended_read_of_what_is_erased(nand: NandDriver):
    await nand.command(C.ERASE)
    await nand.address(nand.row(0, BLOCK, 0), 3)
    await nand.command(C.ERASE_CONFIRM)
    await nand.wait(TIMING.cycles("twb"))
    await nand.begin_suspended_read(PLACE, 0)
    await nand.suspended_read_done()


async def suspended_read_of_an_unwritten_page(nand: NandDriver):
    await nand.erase([(3, BLOCK)])
    await programs_during_a_read(nand)
    await nand.begin_suspended_read([(3, BLOCK)], 0)
    await nand.suspended_read_done()


async def suspended_read_without_a_page(nand: NandDriver):
    await nand.begin_suspended_read()


async def suspended_read_past_the_block(nand: NandDriver):
    for page in range(1, GEOMETRY.pages):
        await nand.program(PLACE, page, [bytes(PAGE)], last=C.PROGRAM_CONFIRM)
    await nand.begin_suspended_read(PLACE, GEOMETRY.pages - 1)
    await nand.suspended_read_done()
    await nand.end_suspended_read()
    await nand.begin_suspended_read()


async def plane_twice_in_a_suspended_read(nand: NandDriver):
    await nand.name_suspended_pages(PLACE * 2, 0)


async def pages_differ_in_a_suspended_read(nand: NandDriver):
    await nand.name_suspended_pages(PLACE, 0)
    await nand.name_suspended_pages([(1, BLOCK)], 1)


async def two_suspended_reads(nand: NandDriver):
    await nand.begin_suspended_read(PLACE, 0)
    await nand.suspended_read_done()
    await nand.begin_suspended_read(PLACE, 0)


async def end_of_no_suspended_read(nand: NandDriver):
    await nand.end_suspended_read()


async def end_of_a_suspended_read_too_early(nand: NandDriver):
    await nand.begin_suspended_read(PLACE, 0)
    await nand.status()
    await nand.end_suspended_read()


async def selection_too_early_in_a_suspended_read(nand: NandDriver):
    await nand.begin_suspended_read(PLACE, 0)
    await nand.select_suspended_page(0, BLOCK, 0)


async def plane_that_no_suspended_read_has(nand: NandDriver):
    await nand.begin_suspended_read(PLACE, 0)
    await nand.suspended_read_done()
    await nand.select_suspended_page(1, BLOCK, 0)


async def tccs_of_a_suspended_read(nand: NandDriver):
    await nand.begin_suspended_read(PLACE, 0)
    await nand.suspended_read_done()
    await nand.select_suspended_page(0, BLOCK, 0)
    nand.data_from -= 1
    await nand.data_out(2)


async def data_out_past_the_page_of_a_suspended_read(nand: NandDriver):
    await nand.begin_suspended_read(PLACE, 0)
    await nand.suspended_read_done()
    await nand.select_suspended_page(0, BLOCK, 0)
    await nand.data_out(PAGE + 2)


async def read_before_the_end_of_a_suspended_one(nand: NandDriver):
    await nand.begin_suspended_read(PLACE, 0)
    await nand.suspended_read_done()
    await nand.command(C.READ)
    await nand.full_address(0, BLOCK, 0)


async def address_of_a_suspended_read_cut_short(nand: NandDriver):
    await nand.command(C.SUSPENDED_READ)
    await nand.address(0, 2)
    await nand.command(C.SUSPENDED_READ_CONFIRM)


BREACHES = {
    no_die_selected: "while no CE_n is low",
    two_dies_selected: "CE_n of another die is low at the same time",
    ce_n_changes_during_data: "CE_n changes during data",
    twc: "tWC: 14 cycles instead of at least 15",
    neither_cle_nor_ale: "WE_n without one of CLE and ALE",
    both_cle_and_ale: "WE_n without one of CLE and ALE",
    data_in_a_command_cycle: "data during a command or address cycle",
    re_while_driving: "RE_n toggles while the controller drives",
    trhw: "tRHW: 59 cycles instead of at least 60",
    tchz: "tCHZ: 17 cycles instead of at least 18",
    tchz_between_outputs: "tCHZ: 17 cycles instead of at least 18",
    unknown_command: "unknown command a5h",
    feature_of_a_die_that_has_none: "unknown command efh",
    command_to_a_busy_die: "command 00h to a busy die",
    twb: "tWB: 59 cycles instead of at least 60",
    missing_address_cycle: "command 30h after 4 of the 5 address cycles of 00h",
    additional_address_cycle: "an address cycle that no command asks for",
    confirm_without_command: "command d0h without the one that it belongs to",
    program_confirm_after_read: "command 10h without the one that it belongs to",
    row_too_wide: "row address 100000h has more than 9 bits",
    column_past_the_page: "column 544: it is a multiple of 32 below 544",
    column_within_a_word: "column 16: it is a multiple of 32 below 544",
    broken_multi_plane: "command 60h within a multi-plane operation, which goes on with 80h",
    plane_twice: "plane 0 twice in a multi-plane operation",
    pages_differ: "page 0 after page 1 in a multi-plane operation",
    cache_read_without_read: "command 31h without a read before it",
    cache_read_past_the_block: (
        "command 31h past the last page of the block",
        "sense of plane 0 block 1 page 6: a block has 6 pages",
    ),
    cache_read_end_without_cache_read: "command 3fh without a read before it",
    read_while_programming: "command 00h while the array may be programming",
    erase_in_a_cache_read: "command 60h in a cache read",
    data_in_without_program: "data in without 80h and its address",
    data_in_before_the_address: "data in without 80h and its address",
    tadl: "tADL: 5 cycles instead of at least 6",
    tccs_of_data_in: "tCCS: 179 cycles instead of at least 180",
    change_write_column_without_program: "command 85h without the one that it belongs to",
    data_in_past_the_page: "data in past the end of the page, to byte 552 of 544",
    data_in_of_six_bytes: "data in of 6 bytes: not a multiple of 8",
    program_without_data: "command 10h without data",
    data_out_without_source: "data out without a selected source",
    data_out_without_selected_plane: "data out without a selected source",
    data_out_of_a_busy_die: "data out from a busy die",
    twhr: "tWHR: 47 cycles instead of at least 48",
    tccs_of_data_out: "tCCS: 179 cycles instead of at least 180",
    trr: "tRR: 11 cycles instead of at least 12",
    data_out_past_the_page: "data out past the end of the page, to byte 546 of 544",
    plane_that_was_not_read: "command 06h selects plane 1, which was not read",
    change_read_column_without_plane: "command 05h without a selected plane",
    program_without_erase: "program of plane 0 block 1 page 0 without an erase",
    program_out_of_order: "program of plane 1 block 2 page 1 out of order: the next page is 0",
    read_of_an_unwritten_page: "sense of plane 2 block 1 page 0, which is not programmed",
    block_that_does_not_exist: "erase of plane 0 block 12: there are 12 blocks",
    page_that_does_not_exist: "sense of plane 0 block 1 page 6: a block has 6 pages",
    constants_while_programming: "command c0h while the array may be programming",
    constants_within_updates: "command c0h between an update and C8h",
    constants_too_short: "command c1h after 56 of the 64 bytes of a header",
    tadl_of_constants: "tADL: 5 cycles instead of at least 6",
    gradient_without_data: "command c3h without data",
    gradient_without_its_source: "command c3h of page 0 after 528 of the 536 bytes of a page and identities",
    gradient_to_a_die_that_programs: "command c2h to a busy die",
    update_while_updating: "command c4h to a busy die",
    update_without_new_gradients: "command c7h without gradients since the update before",
    update_without_target: "command c6h without the one that it belongs to",
    update_of_some_planes: "command c7h after plane 0 of 4",
    planes_of_an_update_in_disorder: "an update of plane 1 before plane 0",
    update_to_another_plane: "an update's source is on plane 0, its target on plane 1",
    target_pages_differ: "target page 1 after page 0 in an update",
    program_within_updates: "command 80h between an update and C8h",
    read_after_updates: "command 00h while the array may be programming",
    end_without_update: "command c8h without an update",
    target_not_erased: "program of plane 3 block 2 page 0 without an erase",
    copy_without_update: "command c9h without an update",
    tccs_of_copies: "tCCS: 179 cycles instead of at least 180",
    tccs_of_statistics: "tCCS: 179 cycles instead of at least 180",
    suspended_read_within_a_plain_read: "command bch while the die reads otherwise",
    suspended_read_within_an_update: "command bch between an update and C8h",
    twb_of_a_suspended_read: "tWB: 59 cycles instead of at least 60",
    suspended_read_of_pages_in_work: "suspended read of plane 2 block 1 page 0, which the array works on",
    suspended_read_of_what_is_erased: "suspended read of plane 0 block 1 page 0, which the array works on",
    suspended_read_of_an_unwritten_page: "suspended read of plane 3 block 1 page 0, which is not programmed",
    suspended_read_without_a_page: ("command bdh without a page", "an operation without a plane"),
    suspended_read_past_the_block: (
        "command bdh past the last page of the block",
        "suspended read of plane 0 block 1 page 6: it does not exist",
    ),
    plane_twice_in_a_suspended_read: "plane 0 twice in a suspended read",
    pages_differ_in_a_suspended_read: "page 1 after page 0 in a suspended read",
    two_suspended_reads: "command bdh before BFh has ended the suspended read before",
    end_of_no_suspended_read: "command bfh without a suspended read that is known to be there",
    end_of_a_suspended_read_too_early: "command bfh without a suspended read that is known to be there",
    selection_too_early_in_a_suspended_read: "command beh without a suspended read that is known to be there",
    plane_that_no_suspended_read_has: "command beh selects plane 1, which was not read",
    tccs_of_a_suspended_read: "tCCS: 179 cycles instead of at least 180",
    data_out_past_the_page_of_a_suspended_read: "data out past the end of the page, to byte 546 of 544",
    read_before_the_end_of_a_suspended_one: "command 00h before BFh has ended a suspended read",
    address_of_a_suspended_read_cut_short: (
        "command bdh after 2 of the 3 address cycles of bch",
        "an operation without a plane",
    ),
    **COPYBACK_BREACHES,
}


if CONFIG.read_levels:
    BREACHES = FEATURE_BREACHES


def messages() -> list[str]:
    return MESSAGES.read_text(encoding="utf-8").splitlines() if MESSAGES.exists() else []


@cocotb.test()
@cocotb.parametrize(breach=list(BREACHES))
async def refused_once(dut, breach):
    nand = await started(dut, CONFIG)
    nand.select(0)
    await nand.reset_die()
    for block in (BLOCK, BLOCK + 1):
        await nand.erase([(plane, block) for plane in range(GEOMETRY.planes)])
    await nand.program([(0, BLOCK), (1, BLOCK)], 0, [bytes(PAGE)] * 2, last=C.PROGRAM_CONFIRM)
    # What was selected for output or may be continued goes with a reset.
    await nand.reset_die()
    assert nand.violations == 0
    said = len(messages())

    await breach(nand)
    dut.bus__cle.value = dut.bus__ale.value = 0
    for _ in range(5):
        await RisingEdge(dut.clk)
    new = messages()[said:]
    expected = BREACHES[breach]
    expected = (expected,) if isinstance(expected, str) else expected
    assert nand.violations == len(expected), new
    if bench_parameters()["verilator"]:
        for message, part in zip(new, expected, strict=True):
            assert part in message, message
            assert message.startswith("NAND VIOLATION cycle "), message
            assert " channel 5 die " in message, message
