"""Page sets whose program has failed."""

from tests.mutation.fault import Fault

MOVES = "rtl/channel/die_agent/test_moves.py"

MOVING = (
    Fault(
        "fail-for-the-set-before",
        "channel/die_agent/mover.py",
        "Mux(both, failed_before, failed_now)",
        "failed_now",
        "FAIL of the set behind it, for FAILC: the planes that move are not those that failed",
        MOVES,
    ),
    Fault(
        "repeated-for-another-zone",
        "channel/die_agent/mover.py",
        "s.second & (sets.second.zone == sets.first.zone) & s.moved",
        "s.second & s.moved",
        "a set that has passed is programmed again on the block where it is, of a zone that did not move",
        MOVES,
    ),
    Fault(
        "spare-kept-after-a-copy-that-failed",
        "channel/die_agent/mover.py",
        """m.d.sync += s.page.eq(s.page + 1)
            m.next = "NEXT_PAGE"
            with m.If(self._status_failed()):
                self._next_spare(m)
""",
        """m.d.sync += s.page.eq(s.page + 1)
            m.next = "NEXT_PAGE"
""",
        "the status of a copy is not looked at",
        MOVES,
    ),
    Fault(
        "erase-before-a-move",
        "channel/die_agent/die_agent.py",
        "unit.schedule.request & ~mover.schedule.request",
        "unit.schedule.request",
        "a zone is erased, and then moved with pages that it has no more",
        MOVES,
    ),
    Fault(
        "spare-erased-after-it-was-taken",
        "channel/die_agent/block_replacer.py",
        "with m.Elif(s.taken & s.of_spares):",
        "with m.Elif(s.taken & s.of_spares & 0):",
        "an erase of a spare that has waited goes on although a block has moved there",
        MOVES,
    ),
    Fault(
        "suspended-read-goes-on-in-the-old-block",
        "channel/die_agent/reader.py",
        "sequential.eq(sets.sequential & s.blocks_known)",
        "sequential.eq(sets.sequential)",
        "the row behind one that was read before a move is read from the block that has failed",
        MOVES,
    ),
)
