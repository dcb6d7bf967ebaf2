"""Page sets whose program has failed."""

from fault import Fault

MOVES = "rtl/channel/test_moves.py"

MOVING = (
    Fault(
        "fail-for-the-set-before",
        "channel/mover.py",
        "Mux(sets.both, failed_before, has_failed_now)",
        "has_failed_now",
        "FAIL of the set behind it, for FAILC: the planes that move are not those that failed",
        MOVES,
    ),
    Fault(
        "repeated-for-another-zone",
        "channel/mover.py",
        "second & (sets.second.zone == sets.first.zone) & moved",
        "second & moved",
        "a set that has passed is programmed again on the block where it is, of a zone that did not move",
        MOVES,
    ),
    Fault(
        "spare-kept-after-a-copy-that-failed",
        "channel/mover.py",
        """m.d.sync += row.eq(row + 1)
                m.next = "NEXT_PAGE"
                with m.If(has_failed_now):
                    next_spare()
""",
        """m.d.sync += row.eq(row + 1)
                m.next = "NEXT_PAGE"
""",
        "the status of a copy is not looked at",
        MOVES,
    ),
    Fault(
        "erase-before-a-move",
        "channel/die_agent.py",
        "turn.wants.eq(unit.turn.wants & ~mover.turn.wants)",
        "turn.wants.eq(unit.turn.wants)",
        "a zone is erased, and then moved with pages that it has no more",
        MOVES,
    ),
    Fault(
        "spare-erased-after-it-was-taken",
        "channel/block_replacer.py",
        "with m.Elif(taken & of_spares):",
        "with m.Elif(taken & of_spares & 0):",
        "an erase of a spare that has waited goes on although a block has moved there",
        MOVES,
    ),
    Fault(
        "read-beside-goes-on-in-the-old-block",
        "channel/reader.py",
        "sequential.eq(sets.sequential & known)",
        "sequential.eq(sets.sequential)",
        "the row behind one that was read before a move is read from the block that has failed",
        MOVES,
    ),
)
