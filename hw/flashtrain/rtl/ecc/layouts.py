"""The structs between the units of a decoder."""

from amaranth.lib import data

from flashtrain.spec.ecc import PageCode
from flashtrain.spec.geometry import bits_for


class Syndromes(data.StructLayout):
    """A code word at each of the roots that it must have; all 0 if it is one.

    `source`: which of several streams of pages it is from. `word`: its number within its page.
    """

    def __init__(self, code: PageCode, sources: int = 1):
        super().__init__({
            "source": bits_for(sources),
            "word": bits_for(code.words),
            "values": data.ArrayLayout(code.field.bits, code.strength),
        })  # fmt: skip


class Locator(data.StructLayout):
    """A coefficient of the polynomial whose roots are the places of errors, one after the other from the
    lowest on; `strength` + 1 of them. Of a word that is clean or uncorrectable there is one, without meaning.
    """

    def __init__(self, code: PageCode, sources: int = 1):
        super().__init__({
            "source": bits_for(sources),
            "word": bits_for(code.words),
            "errors": bits_for(code.strength + 1),  # so many roots it must have; 0: clean
            "failed": 1,  # uncorrectable
            "coefficient": code.field.bits,
            "last": 1,
        })  # fmt: skip


class Correction(data.StructLayout):
    """Bits to be changed: those of `mask`, in the `position`-th group of so many bits of a page's data."""

    def __init__(self, code: PageCode, parallel: int, sources: int = 1):
        super().__init__({
            "source": bits_for(sources),
            "position": bits_for(8 * code.data_bytes // parallel),
            "mask": parallel,
        })  # fmt: skip


class Verdict(data.StructLayout):
    """The result of a code word: `corrected` bits, those of its parity included; or `failed`."""

    def __init__(self, code: PageCode, sources: int = 1):
        super().__init__({
            "source": bits_for(sources),
            "word": bits_for(code.words),
            "corrected": bits_for(code.strength + 1),
            "failed": 1,
        })  # fmt: skip
