"""Error correction, and what it changes in the buffers."""

from tests.mutation.fault import Fault

CODES = "rtl/ecc/test_ecc.py"
BUFFER = "rtl/channel/read_buffer/test_read_buffer.py"
LANE = "rtl/update_lane/test_update_lane.py"

CODE = (
    Fault(
        "raw-pages-lose-their-key",
        "channel/read_buffer/read_buffer.py",
        "decoded.eq(slots.fill_target.from_array & ~self.raw)",
        "decoded.eq(slots.fill_target.from_array)",
        "a page that is to come as its cells hold it loses its key, and may wait for ever for its verdict",
        BUFFER,
    ),
    Fault(
        "parity-of-one-word-for-all",
        "ecc/encoder.py",
        "store.take_word.eq(Mux(position.parity, position.word + 1, 0))",
        "store.take_word.eq(0)",
        "every code word of a page gets the parity of the first",
        f"{CODES}::test_encoder",
    ),
    Fault(
        "syndromes-do-not-wait",
        "ecc/syndromes.py",
        "self.input.ready.eq(~ends_parity | output_free)",
        "self.input.ready.eq(1)",
        "syndromes that nobody has taken yet are overwritten",
        f"{CODES}::test_syndromes",
    ),
    Fault(
        "one-error-less",
        "ecc/solver.py",
        "with m.If(r.more_errors > self.code.strength):",
        "with m.If(r.more_errors >= self.code.strength):",
        "a word with as many errors as the code corrects is given up",
        f"{CODES}::test_solver",
    ),
    Fault(
        "locator-shifted",
        "ecc/solver.py",
        "before.addr.eq(index - 1 - r.shift)",
        "before.addr.eq(index - r.shift)",
        "the locator is changed by the polynomial before, one degree off",
        f"{CODES}::test_solver",
    ),
    Fault(
        "roots-are-not-counted",
        "ecc/search.py",
        "self.verdicts.payload.failed.eq(~right)",
        "self.verdicts.payload.failed.eq(0)",
        "a word whose locator has too few roots is taken for corrected",
        f"{CODES}::test_decoder",
    ),
    Fault(
        "corrections-beside-the-errors",
        "ecc/search.py",
        "left.eq(self._groups(code.parity_bytes) - 1)",
        "left.eq(self._groups(code.parity_bytes))",
        "errors are taken to be a group further in front than they are",
        f"{CODES}::test_decoder",
    ),
    Fault(
        "verdict-for-another-channel",
        "ecc/corrector.py",
        "turn.payload.source.eq(number)",
        "turn.payload.source.eq(0)",
        "corrections of all streams of pages go to the first",
        f"{CODES}::test_corrector",
    ),
    Fault(
        "only-zeros-are-corrected",
        "channel/read_buffer/page_corrector.py",
        "self.word.word_select(current.chunk, bits) ^ change",
        "self.word.word_select(current.chunk, bits) | change",
        "a one that should be a zero stays in the read buffer",
        BUFFER,
    ),
    Fault(
        "lane-writes-both-words",
        "update_lane/tile_buffer.py",
        "write.en.eq(tile.write << tile.write_index % _ITEMS)",
        "write.en.eq(tile.write.replicate(_ITEMS))",
        "a result overwrites the word beside its own",
        LANE,
    ),
)
