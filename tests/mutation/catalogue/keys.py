"""The randomizer."""

from tests.mutation.fault import Fault

KEYS = (
    Fault(
        "key-for-each-beat",
        "randomizer/keystream.py",
        "takes.eq(first | (self.advance & second))",
        "takes.eq(first | self.advance)",
        "a beat takes the key of a whole word",
        "rtl/randomizer/test_randomizer.py",
    ),
    Fault(
        "gradients-with-a-key",
        "channel/write_buffer/write_buffer.py",
        "page.kind != PageKind.DATA",
        "page.kind == PageKind.CONSTANTS",
        "gradients are randomized on their way to a die, which does not expect it",
        "rtl/channel/write_buffer/test_write_buffer.py",
    ),
    Fault(
        "key-of-what-a-die-has-made",
        "channel/read_buffer/read_buffer.py",
        "Mux(self.fill_decoded, keys.key, 0)",
        "keys.key",
        "a key is taken off copies and statistics, which never had one",
        "rtl/channel/read_buffer/test_read_buffer.py",
    ),
    Fault(
        "key-of-the-source",
        "die/die.py",
        "randomizer.target.eq(sequencer.target_page)",
        "randomizer.target.eq(sequencer.source_page)",
        "a tile is stored with the key of the page that it came from",
        "rtl/die/test_die.py::test_updates_of_pages_with_a_code",
    ),
    Fault(
        "identity-with-the-key-of-plane-0",
        "die/update/tile_randomizer.py",
        "plain.plane[: g.plane_bits], word)",
        "Const(0, g.plane_bits), word)",
        "identities of a tile have the key of the first",
        "rtl/die/test_tile_randomizer.py",
    ),
)
