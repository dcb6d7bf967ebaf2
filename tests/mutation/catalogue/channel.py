"""The buffers of a channel."""

from fault import Fault

SETS = "rtl/channel/test_page_sets.py"
WRITE_BUFFER = "rtl/channel/test_write_buffer.py"
READ_BUFFER = "rtl/channel/test_read_buffer.py"
INTAKE = "rtl/channel/test_read_intake.py"
BLOCKS = "rtl/channel/test_block_table.py"

CHANNEL = (
    Fault(
        "hit-before-the-data",
        "channel/page_sets.py",
        "has_asked.eq(asked.plane < coming.filled)",
        "has_asked.eq(asked.plane <= coming.filled)",
        "a read is served from the write buffer before the page is there",
        SETS,
    ),
    Fault(
        "pinned-slot-used-again",
        "channel/page_sets.py",
        "~is_used & ~(pinned & (pinned_slot == coming.slot))",
        "~is_used",
        "a page set takes the slot from which a page is being copied",
        SETS,
    ),
    Fault(
        "youngest-evicted",
        "channel/page_sets.py",
        "evictable & ~found_free",
        "evictable & ~found_free & ~found_open",
        "for want of room the youngest set is closed, not the oldest",
        SETS,
    ),
    Fault(
        "incomplete-set-offered",
        "channel/page_sets.py",
        "whole.eq(coming.filled > coming.last)",
        "whole.eq(coming.filled >= coming.last)",
        "a set is programmed before its last page has come",
        SETS,
    ),
    Fault(
        "closed-set-discarded-late",
        "channel/page_sets.py",
        "with m.If(Mux(ours, ~whole, is_offered)):",
        "with m.If(ours & ~whole):",
        "a zone is erased while its agent is offered a set of it",
        SETS,
    ),
    Fault(
        "slot-passed-over",
        "channel/set_walk.py",
        "with m.If(~order.renew):",
        "with m.If(order.renew | ~order.renew):",
        "the walk misses the slot behind one that became the youngest",
        SETS,
    ),
    Fault(
        "renewed-slot-stays",
        "channel/age_order.py",
        "is_renewed[: index + 1].any()",
        "is_renewed[:index].any()",
        "the order of age holds a slot twice and another one never",
        SETS,
    ),
    Fault(
        "results-begin-at-plane-0",
        "channel/program_results.py",
        "plane.eq(self.first)",
        "plane.eq(0)",
        "a set that does not begin at plane 0 tells of pages that it does not have",
        WRITE_BUFFER,
    ),
    Fault(
        "result-for-another-command",
        "channel/write_buffer.py",
        "results.note.notify.eq(self.pages.payload.notify & ~has_gradients)",
        "results.note.notify.eq(self.pages.payload.notify)",
        "an update is told of its gradients' slot and of its tile",
        WRITE_BUFFER,
    ),
    Fault(
        "word-not-read-again",
        "channel/gearbox.py",
        "m.d.sync += holds.eq(0)",
        "m.d.sync += holds.eq(holds)",
        "after a copy has used the memory its word goes to the die",
        WRITE_BUFFER,
    ),
    Fault(
        "identity-of-another-row",
        "channel/set_identities.py",
        'for name in ("row", "channel", "die", "wear")',
        'for name in ("channel", "die", "wear")',
        "every page says that it lies on row 0",
        WRITE_BUFFER,
    ),
    Fault(
        "read-lost-before-a-full-queue",
        "channel/read_intake.py",
        "with m.If(queue.input.ready):",
        "with m.If(queue.input.valid):",
        "a read for a die whose queue is full is dropped",
        INTAKE,
    ),
    Fault(
        "head-lost-while-one-waits",
        "channel/read_buffer.py",
        "complete.output.ready.eq(self.read_head.ready & ~waiting)",
        "complete.output.ready.eq(self.read_head.ready)",
        "a complete page is dropped when the tensor buffer's side waits for another one",
        READ_BUFFER,
    ),
    Fault(
        "wrong-buffer-freed",
        "channel/read_buffer.py",
        "free.returned.eq(sent_number)",
        "free.returned.eq(waiting_number)",
        "the buffer of the next page is free before it is read out",
        READ_BUFFER,
    ),
    Fault(
        "die-of-another-lookup",
        "channel/block_table.py",
        "die.eq(asked)",
        "die.eq(place.die)",
        "a block is looked up for the die of the next request",
        BLOCKS,
    ),
)
