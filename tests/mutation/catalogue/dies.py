"""The logic of a die."""

from tests.mutation.fault import Fault

OPERATIONS = "rtl/die/test_die.py::test_operations"
OF_UPDATES = "rtl/die/test_die.py::test_updates"
ALONE = "rtl/die/test_tile_code.py"
LANE = "rtl/update_lane/test_update_lane.py"

DIES = (
    Fault(
        "no-reset-while-busy",
        "die/command/decoder.py",
        "C.READ_STATUS, C.READ_STATUS_ENHANCED, C.RESET,",
        "C.READ_STATUS, C.READ_STATUS_ENHANCED,",
        "a die that works cannot be reset",
        OPERATIONS,
    ),
    Fault(
        "failc-of-any-operation",
        "die/command/sequencer.py",
        "Mux(s.programs & (s.updates | (s.op == ArrayOp.PROGRAM)), self.failed, 0)",
        "self.failed",
        "FAILC tells of whatever the array did before",
        OPERATIONS,
    ),
    Fault(
        "cache-read-skips-a-page",
        "die/command/sequencer.py",
        "with m.If(~s.addressed):",
        "with m.If(s.addressed | ~s.addressed):",
        "31h after an address reads the page behind it",
        OPERATIONS,
    ),
    Fault(
        "tile-survives-a-reset",
        "die/command/sequencer.py",
        "                s.holds_tile.eq(0),\n                self.failed_before.eq(0),",
        "                self.failed_before.eq(0),",
        "a reset between two updates leaves a tile that the next one programs",
        OF_UPDATES,
    ),
    Fault(
        "page-cleared-from-its-begin",
        "die/registers/page_registers.py",
        "clear_word.eq(self.column // self.config.die_word_bytes)",
        "clear_word.eq(0)",
        "data that begin within a page are cleared again",
        OPERATIONS,
    ),
    Fault(
        "pages-named-for-ever",
        "die/command/suspended_read.py",
        "[self.start.eq(1), self.holds.eq(1), named.eq(0)]",
        "[self.start.eq(1), self.holds.eq(1)]",
        "a second suspended read, without an address, is of the same page",
        OPERATIONS,
    ),
    Fault(
        "identity-among-the-gradients",
        "die/update/gradient_buffers.py",
        "(self.lane < page_lanes)",
        "(self.lane <= page_lanes)",
        "the first bytes behind a page of gradients take the place of its first ones",
        OF_UPDATES,
    ),
    Fault(
        "done-before-the-squares",
        "die/update/tile_sequencer.py",
        " & (received == self.parameters) & ~self.unit_busy):",
        " & (received == self.parameters)):",
        "a tile is done while squares of its gradients are on their way",
        LANE,
    ),
    Fault(
        "identity-of-any-plane",
        "die/update/updater.py",
        "(self.plane == 0) & (self.lane >= page_lanes)",
        "self.lane >= page_lanes",
        "the identity behind later pages of gradients is taken for the tile's",
        OF_UPDATES,
    ),
    Fault(
        "wrong-source-passes",
        "die/update/updater.py",
        "                self.damaged.eq(identity.wrong),\n",
        "",
        "the program of a tile that took the place of a wrong one counts as passed",
        OF_UPDATES,
    ),
    Fault(
        "stale-source",
        "die/update/tile_identity.py",
        'if name not in ("updated", "wear", "crc")',
        'if name not in ("updated", "wear", "crc", "generation")',
        "a page of an older generation of its stream is updated",
        OF_UPDATES,
    ),
    Fault(
        "torn-source",
        "die/update/tile_identity.py",
        "differs | (checksum(found.as_value()) != found.crc)",
        "differs",
        "the checksum of a page that is updated is not looked at",
        OF_UPDATES,
    ),
    Fault(
        "more-than-the-tile",
        "die/update/updater.py",
        "Mux(header.parameters > most, most, header.parameters)",
        "header.parameters",
        "invalid constants lead the tile sequencer past its tile",
        OF_UPDATES,
    ),
    Fault(
        "whatever-word-is-clean",
        "die/update/tile_decoder.py",
        "verdicts.payload.failed | spoilt",
        "spoilt",
        "a tile with a word that cannot be corrected is updated as any other",
        ALONE,
    ),
    Fault(
        "encoded-before-the-results",
        "die/update/tile_encoder.py",
        "left & (due | self.all_passed.replicate(words.count))",
        "left",
        "words of a tile get their parity before the update unit is done with them",
        ALONE,
    ),
    Fault(
        "level-outlasts-a-reset",
        "die/die.py",
        "read_level.clear.eq(sequencer.array.abort)",
        "read_level.clear.eq(0)",
        "after a reset a die senses at the level of before",
        "rtl/die/test_die.py::test_read_level",
    ),
)
