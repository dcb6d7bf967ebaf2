# amaranth: UnusedElaboratable=no
"""A controller whose channels lead to SDR parts (`tests/parts`): a bench top in the times of the standard."""

from dataclasses import dataclass, replace
from inspect import getsource
from pathlib import Path

from amaranth import Cat, Instance, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from flashtrain.rtl.controller import Controller
from flashtrain.rtl.lib.forward import forward
from flashtrain.rtl.lib.shared import SharedModule
from flashtrain.sim.verilator.verilated import exported_sources
from flashtrain.spec import FmsConfig, Geometry
from flashtrain.spec.chips import MANDATORY
from flashtrain.spec.nand import DieCommand
from flashtrain.spec.presets import TINY
from flashtrain.spec.sdr import with_sdr_waits
from flashtrain.spec.timing import Duration, ns
from tests.parts.sdr_sources import PART

AWAY = 2
"""Registers between controller and chip, in each direction."""
SCALE = 20
"""The parts' busy times are so much shorter than those of a data sheet."""


@dataclass(frozen=True)
class Socket:
    """A part: its fastest timing mode, and what it declares; see `sdr_part.sv`."""

    mode: int
    seed: int
    optional: int = 0x003F
    features: int = 0x0000
    bad_blocks: int = 0
    drive: int = 0x00
    suspend_cycles: int | None = None  # address cycles of 84h, 13h, 61h and D2h; None: it lacks these


@dataclass(frozen=True)
class Board:
    """A configuration, the parts of each channel, one for each die, and the mode that they are to get.

    With several LUNs of a chip enable each is a part, which has its number.
    """

    config: FmsConfig
    sockets: tuple[tuple[Socket, ...], ...]
    mode: int

    @property
    def period_ns(self) -> int:
        """A cycle of the bench is one of the clock, so the parts see the nanoseconds of the standard."""
        return 1000 // self.config.timing.clock_mhz


PORTED = Board(
    replace(
        TINY,
        name="sdr_board",
        timing=replace(TINY.timing, clock_mhz=500),
        command_port=True,
        port_delay=2 * AWAY,
        chips=replace(TINY.chips, drive_ohms=25, zq_calibration=True),
    ),
    (
        (Socket(mode=3, seed=3, optional=0x003F | 1 << 13, drive=0x03),),
        (Socket(mode=5, seed=7, optional=0x003F | 1 << 13, drive=0x07),),
    ),
    mode=3,
)
"""NV-DDR3 for the engines, and a command port: bring-up sets and calibrates the drive of the parts."""

_SDR = replace(
    TINY,
    geometry=Geometry(
        channels=1, dies=2, planes=2, blocks=12, pages=6, page_bytes=512, spare_bytes=32, spare_blocks=2
    ),
    timing=with_sdr_waits(
        replace(
            TINY.timing, clock_mhz=100, twc=ns(20), trr=Duration(6, 40), tr=ns(1_250), tprog=ns(10_000),
            tbers=ns(35_000), tcbsy=ns(150), tdbsy=ns(25), trst=ns(500), tfeat=ns(50),
            tsusp=ns(1_000), tres=ns(50), tadv=ns(1_500),
        )
    ),
    write_sets=4,
    read_pages=4,
    port_delay=2 * AWAY,
    chips=replace(MANDATORY, multi_plane=True),
)  # fmt: skip
_EVERYTHING = 0x007F
"""Cache programs and reads, features, 78h, copyback, unique ID, 06h."""
_ZQ = 1 << 13
_ERASES = {"erase_suspend": 0x61, "erase_resume": 0xD2}
"""Examples of commands of a maker, as are 84h and 13h."""
_LUNS, _TWO_PLANES, _TWO_PLANE_READS = 1 << 1, 1 << 3, 1 << 6

CACHED = Board(
    replace(
        _SDR,
        name="sdr_cached",
        command_port=True,
        chips=replace(
            MANDATORY,
            cache_program=True,
            cache_read=True,
            random_cache_read=True,
            multi_plane=True,
            drive_ohms=50,
            zq_calibration=True,
            ready_busy=True,
            **_ERASES,
        ),
    ),
    (
        tuple(
            Socket(
                mode=5,
                seed=seed,
                optional=_EVERYTHING & ~(1 << 6) | _ZQ,
                features=_TWO_PLANES,
                bad_blocks=1,
                drive=0x01,
                suspend_cycles=0,
            )
            for seed in (5, 9)
        ),
    ),
    mode=5,
)
"""Two chips behind a bus, with a bad block each; caches, and programs and erases of two planes.

Firmware brings the chips up, with their drive strength and its calibration, and chooses the mode of
the engines. Each chip has a line R/B#."""

TWO_PLANES = Board(
    replace(
        _SDR,
        name="sdr_two_planes",
        chips=replace(
            MANDATORY,
            sdr_mode=4,
            multi_plane=True,
            multi_plane_read=True,
            change_plane=True,
            program_suspend=0x84,
            program_resume=0x13,
            suspend_row=True,
            ready_busy=True,
            shared_ready_busy=True,
            **_ERASES,
        ),
    ),
    (
        tuple(
            Socket(
                mode=5,
                seed=seed,
                optional=_EVERYTHING & ~3,
                features=_TWO_PLANES | _TWO_PLANE_READS,
                suspend_cycles=3,
            )
            for seed in (6, 8)
        ),
    ),
    mode=4,
)
"""The same without caches, but with reads of two planes. Programs can be suspended, too. Both chips share
the line R/B#."""

PLAIN = Board(
    replace(
        _SDR,
        name="sdr_plain",
        geometry=replace(_SDR.geometry, channels=2, dies=1, planes=1, blocks=8, spare_blocks=0),
        max_blocks=12,
        chips=MANDATORY,
    ),
    ((Socket(mode=0, seed=2, optional=0),), (Socket(mode=3, seed=4, optional=0),)),
    mode=0,
)
"""Chips that have the mandatory commands alone, in timing mode 0."""

BOTH = Board(
    replace(
        _SDR,
        name="sdr_both",
        geometry=replace(_SDR.geometry, dies=1, planes=1, blocks=8, spare_blocks=0),
        max_blocks=6,
        command_port=True,
        chips=replace(MANDATORY, ddr=True, cache_program=True, cache_read=True),
    ),
    ((Socket(mode=5, seed=3),),),
    mode=5,
)
"""NV-DDR3 until firmware has brought the chip up, and has chosen SDR and its mode."""

LUNS = Board(
    replace(
        _SDR,
        name="sdr_luns",
        command_port=True,
        chips=replace(
            MANDATORY, multi_plane=True, change_plane=True, ready_busy=True, zq_calibration=True, luns=2
        ),
    ),
    (
        tuple(
            Socket(
                mode=5,
                seed=seed,
                optional=_EVERYTHING & ~3 | _ZQ,
                features=_LUNS | _TWO_PLANES,
                bad_blocks=1,
            )
            for seed in (4, 12)
        ),
    ),
    mode=5,
)
"""A chip of two LUNs, with a bad block each, behind one chip enable and one line R/B#."""

BOARDS = {board.config.name: board for board in (PORTED, CACHED, TWO_PLANES, PLAIN, BOTH, LUNS)}
_PINS = ("ce_n", "cle", "ale", "we_n", "re_n", "dq_oe", "dq_o")
_COUNTS = ("violations", "misuses", "ignored", "suspensions")


class SdrBoard(wiring.Component):
    """Members: `registers`, `data`, `queue` and `irq` of the controller; what the parts get, and counts.

    The parts are numbered over all channels.

    power : In(1)
    fail_program, fail_erase : In(parts)
    violations, misuses, ignored, suspensions : Out(32).array(parts)   see `sdr_part.sv`
    busy_polls : Out(32).array(parts)   commands 70h while R/B# of the part is low
    modes : Out(3).array(parts)
    """

    def __init__(self, board: Board):
        self.board = board
        self._controller = SharedModule(Controller(board.config), "flashtrain")
        parts = sum(map(len, board.sockets))
        members = self._controller.signature.members
        super().__init__({
            **{name: members[name] for name in ("registers", "data", "queue", "irq")},
            "power": In(1),
            "fail_program": In(parts),
            "fail_erase": In(parts),
            **{name: Out(32).array(parts) for name in (*_COUNTS, "busy_polls")},
            "modes": Out(3).array(parts),
        })  # fmt: skip

    def elaborate(self, platform):
        m = Module()
        m.submodules.controller = controller = self._controller
        forward(m, controller, self, ("registers", "data", "queue", "irq"))
        number = 0
        for channel, sockets in enumerate(self.board.sockets):
            pins = controller.nand[channel]
            at_chips = {name: _delayed(m, getattr(pins, name)) for name in _PINS}
            from_parts, drives, ready = [], [], []
            latched = Signal(name=f"latched_{channel}")  # a command in the cycle before
            m.d.sync += latched.eq(at_chips["cle"] & ~at_chips["we_n"])
            polls = latched & at_chips["we_n"] & (at_chips["dq_o"][:8] == DieCommand.READ_STATUS)
            bus = Signal(8, name=f"bus_{channel}")
            all_drive = Signal(len(sockets), name=f"drive_{channel}")
            luns = self.board.config.chips.luns
            for die, socket in enumerate(sockets):
                ce_n = at_chips["ce_n"][die // luns]
                own = range(die // luns * luns, (die // luns + 1) * luns)
                others = Cat(all_drive[one] for one in own if one != die).any() if luns > 1 else 0
                outputs = self._part(m, number, socket, at_chips, ce_n, bus, die % luns, others)
                for kept, output in zip((from_parts, drives, ready), outputs, strict=True):
                    kept.append(output)
                with m.If(polls & ~ce_n & ~ready[-1]):
                    m.d.sync += self.busy_polls[number].eq(self.busy_polls[number] + 1)
                number += 1
            if self.board.config.chips.shared_ready_busy:
                ready = [Cat(ready).all()] * len(ready)
            ready = [Cat(ready[first : first + luns]).all() for first in range(0, len(ready), luns)]
            level = 0xFF  # pulled up
            for byte, drive in zip(from_parts, drives, strict=True):
                level = Mux(drive, byte, level)
            m.d.comb += [
                all_drive.eq(Cat(drives)),
                bus.eq(Mux(at_chips["dq_oe"], at_chips["dq_o"][:8], level)),
                pins.dq_i.eq(_delayed(m, bus)),
                *(pins.rb_n[die].eq(one) for die, one in enumerate(ready)),
            ]
        return m

    def _part(
        self, m: Module, number: int, socket: Socket, at_chips: dict, ce_n, bus: Signal, lun: int, others
    ):
        pairs = (0x84, 0x13, 0x61, 0xD2) if socket.suspend_cycles is not None else (0, 0, 0, 0)
        g = self.board.config.geometry
        from_part, drives, ready = (
            Signal(width, name=f"{name}_{number}") for name, width in (("io", 8), ("oe", 1), ("rb_n", 1))
        )
        m.submodules[f"part_{number}"] = Instance(
            "sdr_part",
            p_PAGE_BYTES=g.page_bytes, p_SPARE_BYTES=g.spare_bytes, p_PAGES=g.pages,
            p_BLOCKS=g.blocks * g.planes, p_PLANES=g.planes, p_MAX_MODE=socket.mode, p_SEED=socket.seed,
            p_OPTIONAL=socket.optional, p_FEATURES=socket.features, p_DRIVE=socket.drive,
            p_BAD_BLOCKS=socket.bad_blocks, p_SCALE=SCALE, p_LUNS=self.board.config.chips.luns, p_LUN=lun,
            p_PROGRAM_SUSPEND=pairs[0], p_PROGRAM_RESUME=pairs[1], p_ERASE_SUSPEND=pairs[2],
            p_ERASE_RESUME=pairs[3], p_SUSPEND_CYCLES=socket.suspend_cycles or 0,
            i_power=self.power, i_ce_n=ce_n, i_cle=at_chips["cle"], i_ale=at_chips["ale"],
            i_others_drive=others, i_we_n=at_chips["we_n"], i_re_n=at_chips["re_n"], i_wp_n=1, i_io_i=bus,
            o_io_o=from_part, o_io_oe=drives, o_rb_n=ready,
            i_fail_program=self.fail_program[number], i_fail_erase=self.fail_erase[number], i_wrong_bits=0,
            **{f"o_{name}": getattr(self, name)[number] for name in _COUNTS},
            o_mode=self.modes[number],
        )  # fmt: skip
        return from_part, drives, ready


def board_sources(board: Board) -> list[Path]:
    """All sources of a board; the top module is `sdr_board`."""
    what = repr((board, getsource(SdrBoard)))
    return [*exported_sources(lambda: SdrBoard(board), "sdr_board", what), *PART]


def _delayed(m: Module, pin):
    """The pin at the other end of its wire; strobes and chip enables are high at the start."""
    for _ in range(AWAY):
        high = (1 << len(pin)) - 1 if pin.name.endswith("_n") else 0
        register = Signal(len(pin), name=pin.name, init=high)
        m.d.sync += register.eq(pin)
        pin = register
    return pin
