"""Chips behind a controller: their data interfaces, and the optional commands that the engines may use.

ONFI makes few commands mandatory: read, program, erase, status, reset, identification. A chip declares the
others in its parameter page. An engine replaces an optional command that is not there by plain ones, or does
without what it is for:

- without `cache_program` 10h ends each page set, and the next one is loaded after its program
- without `cache_read` the pages of a set leave the chip before the next set is sensed; without
  `random_cache_read` a cache read goes on to the next page only
- without `multi_plane_read` a set is one page
- without `change_plane` 00h returns from the status to the page that was sensed
- without `suspended_read` a read waits for the end of a program or an erase, and takes turns with them
- with `program_suspend` and `erase_suspend` a read suspends them by commands of the maker instead
- without `update` commands of an update have the status INVALID_OPCODE

R/B# of a chip is RDY of its status: low from tWB behind a command, at the latest, until the chip takes the
next one. The pin is an open drain, so chips may share a line, which is low while one of them is busy. Where
no line is wired an engine polls the status at intervals.

Several LUNs
------------

With `luns` so many dies are behind a chip enable. ONFI 5.1 calls a die a *logical unit* (LUN); the bits
above the block in a row address select it (`FmsConfig.row_address`). Die numbers of a channel count the
LUNs of a chip enable first.

- A LUN follows commands with a row address of its own, and then commands without one, until another LUN
  gets a row address. FFh, EFh, 90h and ECh are for all of them.
- 70h would be answered by all LUNs, so each status is 78h with a row. It reports FAIL of one plane, so a poll
  at the end of a program or an erase asks plane after plane. A plane without a part in that work must show
  no failure.
- Commands without an address follow 78h and a row: 31h, 3Fh, 00h without `change_plane`, and a maker's
  pair.
- From the choice of a page to its data the bus serves no other LUN of that chip enable.
- The first LUN sends FFh and EFh for all of them.
- R/B# is one pin for all LUNs of a chip enable, as with `shared_ready_busy`.

A program begins with 80h, which clears the page register of the addressed LUN alone (ONFI: enhanced page
register clear). Commands of this project are for chips with one LUN.

Separate command address (SCA)
------------------------------

JESD230G (JEDEC, 11/2024, section 10) has SCA as a second protocol of the same commands. The sources here are
public notes on that section (cqlhupt.github.io, NAND SCA, 11/2024).

- The pins CE_n, CLE and ALE, and WE_n become CA_CE_n, CA[1:0] and CA_CLK. DQ and DQS carry data alone.
- A byte of a command or an address is a packet of a header of 4 bits and a body of 8. CA[1:0] has two bits
  at each edge of CA_CLK, so a packet takes three of its cycles.
- A status comes on CA[1:0] as well: a header, the turn of the bus, and four cycles. CA_CE_n ends it.
- The packets SCE and SCT begin and end a data burst of a die. A page that was read needs 06h to E0h ahead of
  SCE. 12h ends the address of a program.
- While a die moves data, it takes a status, and no command that is about data. Other dies take all commands.

The RTL sends the packets of `spec.sca`. A die of it has one operation at a time: none gets a status while it
moves data.
"""

from dataclasses import dataclass

from .errors import require
from .limits import check_limits, integer, switch

DRIVE_OHMS = (18, 25, 35, 50)
"""Drive strengths, in the order of their values of feature 10h (ONFI 4.0)."""


@dataclass(frozen=True)
class Chips:
    """Interfaces and optional commands of all chips of a device; see each field's limits for its meaning."""

    ddr: bool = switch("data interface NV-DDR3", True)
    sdr: bool = switch("data interface SDR, the asynchronous one, in which chips are after power-on", False)
    sca: bool = switch("SCA: commands, addresses and status on a bus of their own, beside the data", False)
    sdr_mode: int = integer(0, 5, "", "SDR timing mode that an engine sets after a reset of a chip", 0)
    luns: int = integer(1, 8, "", "LUNs behind a chip enable", 1)
    ready_busy: bool = switch("R/B# is wired: no status is polled while it is low", False)
    shared_ready_busy: bool = switch("with ready_busy: one line for all chips of a channel", False)
    cache_program: bool = switch("15h", True)
    cache_read: bool = switch("31h and 3Fh", True)
    random_cache_read: bool = switch("00h to 31h", True)
    multi_plane: bool = switch("11h and D1h", True)
    multi_plane_read: bool = switch("32h", True)
    change_plane: bool = switch("06h to E0h", True)
    suspended_read: bool = switch("BCh to BFh of this project: a read beside a program or an erase", True)
    update: bool = switch("C0h to CCh of this project: updates on the dies", True)
    program_suspend: int = integer(0, 255, "", "command of the maker that suspends a program; 0: none", 0)
    program_resume: int = integer(0, 255, "", "command that resumes it", 0)
    erase_suspend: int = integer(0, 255, "", "command of the maker that suspends an erase; 0: none", 0)
    erase_resume: int = integer(0, 255, "", "command that resumes it", 0)
    suspend_row: bool = switch("a row address follows each of these four commands", False)
    drive_ohms: int = integer(
        0, 50, "ohm", "drive strength that bring-up sets: 18, 25, 35 or 50; 0 leaves it", 0
    )
    zq_calibration: bool = switch("bring-up calibrates the drive of each chip by its resistor (F9h)", False)

    def __post_init__(self) -> None:
        check_limits("chips", self)
        if self.luns > 1:
            self._check_luns()
        require(self.ready_busy or not self.shared_ready_busy, "chips.shared_ready_busy",
                self.shared_ready_busy, "false without chips.ready_busy")  # fmt: skip
        require(self.ddr or self.sdr, "chips.sdr", self.sdr, "true without chips.ddr")
        require(self.drive_ohms in (0, *DRIVE_OHMS), "chips.drive_ohms", self.drive_ohms,
                f"0 or one of {', '.join(map(str, DRIVE_OHMS))}")  # fmt: skip
        require(not self.sca or (self.ddr and not self.sdr), "chips.sca", self.sca,
                "false without chips.ddr, or with chips.sdr")  # fmt: skip
        for work in ("program", "erase"):
            suspend, resume = (getattr(self, f"{work}_{verb}") for verb in ("suspend", "resume"))
            require((suspend == 0) == (resume == 0) and (suspend == 0 or suspend != resume),
                    f"chips.{work}_resume", resume,
                    f"another command than chips.{work}_suspend, or 0 for both")  # fmt: skip
        require(not (self.has_maker_suspend and self.suspended_read), "chips.suspended_read",
                self.suspended_read, "false with suspend commands of the maker")  # fmt: skip
        require(not (self.suspends_programs and self.cache_program), "chips.cache_program",
                self.cache_program, "false with chips.program_suspend: reads take that register")  # fmt: skip
        require(self.cache_read or not self.random_cache_read, "chips.random_cache_read",
                self.random_cache_read, "false without chips.cache_read")  # fmt: skip

    def _check_luns(self) -> None:
        """`ConfigError` for what several LUNs of a chip enable cannot have."""
        for name in ("suspended_read", "update"):
            require(not getattr(self, name), f"chips.{name}", getattr(self, name),
                    f"false with {self.luns} LUNs: not all of its commands have a row address")  # fmt: skip
        require(not self.sca, "chips.sca", self.sca,
                f"false with {self.luns} LUNs: each die has a CA_CE_n of its own")  # fmt: skip

    @property
    def shares_ready_busy(self) -> bool:
        """R/B# is a line of several dies."""
        return self.ready_busy and (self.shared_ready_busy or self.luns > 1)

    @property
    def suspends_programs(self) -> bool:
        """By a pair of commands of the maker."""
        return self.program_suspend != 0

    @property
    def suspends_erases(self) -> bool:
        """By a pair of commands of the maker."""
        return self.erase_suspend != 0

    @property
    def has_maker_suspend(self) -> bool:
        return self.suspends_programs or self.suspends_erases

    def check_planes(self, planes: int) -> None:
        """`ConfigError` unless an engine can use so many planes of these chips."""
        if planes > 1:
            require(self.multi_plane, "geometry.planes", planes,
                    "1 without chips.multi_plane: blocks of all planes are those of one")  # fmt: skip
            require(self.change_plane or not self.multi_plane_read, "chips.multi_plane_read",
                    self.multi_plane_read, "false without chips.change_plane")  # fmt: skip


MANDATORY = Chips(
    ddr=False, sdr=True, cache_program=False, cache_read=False, random_cache_read=False, multi_plane=False,
    multi_plane_read=False, change_plane=False, suspended_read=False, update=False,
)  # fmt: skip
"""What every chip has: the asynchronous interface in mode 0, and the mandatory commands alone."""
