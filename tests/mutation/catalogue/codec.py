"""The encoder of the window code."""

from tests.mutation.fault import Fault

_TESTS = "rtl/codec/test_codec.py"

CODEC = (
    Fault(
        "append-over-groups-on-their-way",
        "codec/group_collector.py",
        "~active & ~fills & ~(word_valid & (second | ~rounds)) & ~(self.job.valid & idle)",
        "~active & ~(self.job.valid & idle)",
        "an append begins, and its codec is that of the last groups of the one before",
        _TESTS,
    ),
    Fault(
        "first-block-counts-once",
        "codec/sampler.py",
        "Mux(self.fresh, found << MEMORY + FRACTION, found << FRACTION)",
        "found << FRACTION",
        "the first block of an append does not stand for all that came before",
        _TESTS,
    ),
    Fault(
        "page-ends-before-its-choice",
        "codec/page_fitter.py",
        "has_buffer_next & (settled_next | ~Mux(takes, following.last, group.last))",
        "has_buffer_next",
        "the last page of an append closes with the mode and base of the page before",
        _TESTS,
    ),
    Fault(
        "choice-due-of-the-group",
        "codec/page_fitter.py",
        "Mux(is_settled, due_for_group, due_for_page)",
        "due_for_group",
        "a page that is not settled takes the choice of a block that ends behind its first slice",
        _TESTS,
    ),
)
