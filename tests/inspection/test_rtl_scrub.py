"""A scrub by the controller of the RTL, which corrects and loses the pages that a scrub of the file does."""

from flashtrain.inspection import inspected, link_scrub, scrub
from flashtrain.sim.link.rtl_link import RtlLink


def test_the_controller_finds_planted_bits(spoilt_image):
    before = spoilt_image.read_bytes()
    with inspected(spoilt_image) as image:
        of_file = scrub(image, lambda text: None)
        found = link_scrub(image, "rtl", RtlLink, 1 << 20, lambda text: None)
    counts = {(row.stream, row.zone): row.pages for row in found.zones}
    for row in of_file.zones:
        if row.stream is not None and row.stream != "inputs":
            assert counts[row.stream, row.zone].read == row.pages.read
    inputs = counts["inputs", 0]
    assert (inputs.corrected_pages, inputs.corrected_bits, inputs.uncorrectable) == (1, 1, 1)
    assert found.all.corrected_bits == of_file.all.corrected_bits
    assert spoilt_image.read_bytes() == before
