"""Formats of state: words of two numbers, rounding, and its random bits."""

from tests.mutation.fault import Fault

OF_UPDATES = "rtl/die/test_die.py::test_updates"
ALONE = "rtl/die/test_rounding.py"
LANE = "rtl/update_lane/test_update_lane.py"

STATE_FORMATS = (
    Fault(
        "half-of-the-other-parameter",
        "die/update/tile_sequencer.py",
        "kept.word_select(odd, 16)",
        "kept.word_select(~odd, 16)",
        "two parameters of a word exchange their numbers",
        OF_UPDATES,
    ),
    Fault(
        "unit-that-waits-for-nobody",
        "die/update/tile_sequencer.py",
        "held.eq(self.done & ~(written & known))",
        "held.eq(0)",
        "a fast update unit overwrites results that are not written",
        OF_UPDATES,
    ),
    Fault(
        "word-written-with-its-first-number",
        "die/update/tile_sequencer.py",
        "waits.eq(narrow & ~index[0])",
        "waits.eq(narrow & index[0])",
        "a word of two numbers is written before the second one is there",
        OF_UPDATES,
    ),
    Fault(
        "copy-before-the-weight",
        "die/update/tile_sequencer.py",
        "gradients.write.eq(copy_left & ~(self.narrow[0] & left[0]))",
        "gradients.write.eq(copy_left)",
        "the copy of a narrow weight is rounded to nearest, whatever is stored",
        LANE,
    ),
    Fault(
        "halves-rounded-up",
        "die/update/narrow_state.py",
        "Mux(self.a[16], 0x8000, 0x7FFF)",
        "0x8000",
        "a number halfway between two of BF16 is always rounded up",
        ALONE,
    ),
    Fault(
        "zone-of-the-device",
        "die/update/updater.py",
        "(zone - header.first_zone)[: len(zone)]",
        "zone",
        "a step that is repeated in another stream has other random bits",
        OF_UPDATES,
    ),
    Fault(
        "page-of-the-zone",
        "die/update/updater.py",
        "(page - header.first_page)[: len(page)]",
        "page",
        "a step that is repeated behind another generation has other random bits",
        OF_UPDATES,
    ),
    Fault(
        "odd-parameter-counts",
        "die/update/updater.py",
        "fitting[0] & ~narrow.any()",
        "fitting[0]",
        "the first half of a word is updated, and never written",
        OF_UPDATES,
    ),
    Fault(
        "moments-behind-wide-weights",
        "die/update/updater.py",
        "first[1].eq(Mux(narrow[0], parameters >> 1, parameters))",
        "first[1].eq(parameters)",
        "the moments behind weights of 16 bits lie where those of 32 bits would end",
        OF_UPDATES,
    ),
    Fault(
        "tile-without-a-key",
        "die/update/rounding_bits.py",
        "Mux(of_tile, self.key ^ self.place,",
        "Mux(of_tile, self.place,",
        "every step rounds by the same random bits",
        ALONE,
    ),
    Fault(
        "index-goes-on",
        "die/update/rounding_bits.py",
        "cycle.eq(0), index.eq(0)]",
        "cycle.eq(0)]",
        "the parameters of a tile are counted from those of the tile before",
        ALONE,
    ),
    Fault(
        "ties-of-fp8-rounded-up",
        "die/update/scaled_state.py",
        "out.any() | kept[17])",
        "1)",
        "a number halfway between two of FP8 is always rounded up",
        ALONE,
    ),
    Fault(
        "small-variance-stored-as-zero",
        "die/update/scaled_state.py",
        "variance & ~lower.any() & self.a[:31].any()",
        "0",
        "a variance below a unit of the smallest number becomes 0",
        ALONE,
    ),
    Fault(
        "lane-without-a-place",
        "update_lane/lane.py",
        "order.place << PLACE_LOW",
        "order.place",
        "an update lane rounds by random bits of another place",
        LANE,
    ),
)
