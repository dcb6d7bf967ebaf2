"""Optimizer state on the dies: bit for bit what the reference optimizers compute, step by step."""

from dataclasses import replace
from math import ceil
from typing import NamedTuple

import numpy as np
import pytest

from flashtrain.host import TensorGroup, open_device
from flashtrain.host.queues.command_errors import MediaError
from flashtrain.numerics import Totals, copy_of, statistics
from flashtrain.sim.link.rtl_link import RtlLink
from flashtrain.sim.nand.errors import PagePlace
from flashtrain.spec import preset
from flashtrain.spec.identity import PageIdentity, is_identity
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, Input, OptimizerCode
from flashtrain.spec.state_format import Rounding, StateFormat, StateFormats
from flashtrain.spec.streams import UPDATE_NODE
from flashtrain.spec.update import Tile
from flashtrain.training.optimizers import (
    SGD,
    SGDW,
    Adam,
    AdamW,
    AdamWScheduleFree,
    Linear,
    Lion,
    Momentum,
    Nesterov,
)
from tests.rounded_state import as_stored, copied, group_bits

OPTIMIZERS = (
    SGD(0.3, weight_decay=0.01),
    SGDW(0.3, weight_decay=0.1),
    Momentum(0.1, 0.9, weight_decay=0.02),
    Nesterov(0.1, 0.8),
    Linear(0.9, 0.1, 0.99, -0.3, -0.2),
    Adam(0.001, weight_decay=0.01),
    AdamW(0.001, weight_decay=0.1),
    Adam(0.001, beta1=0.5),
    AdamW(0.001, beta1=0.25),
    Lion(0.001, weight_decay=0.1),
    AdamWScheduleFree(0.01, weight_decay=0.1),
)
FP32, FP16, BF16 = GradientFormat
NAMES = {"m": Input.M, "v": Input.V}


class Reference:
    """A group of tensors, updated in NumPy; `stored`: formats, rounding and seed of its state.

    geometry, number, first_row: of the device, and the group's place, for stochastic rounding.
    """

    def __init__(
        self, optimizer, shapes, random, gradient=FP32, copy=CopyFormat.NONE, geometry=None, number=0,
        first_row=0, **stored,
    ):  # fmt: skip
        self.optimizer = optimizer
        self.random = random
        self.group = TensorGroup(optimizer.code, tuple(shapes), gradient, copy, **stored)
        self.geometry, self.number, self.first_row = geometry, number, first_row
        w = [random.standard_normal(shape).astype(np.float32) for shape in shapes]
        self.w = as_stored(self.group, Input.W, w)
        self.state = [optimizer.initial_state(w) for w in self.w]

    def gradients(self):
        values = [self.random.standard_normal(w.shape).astype(np.float32) for w in self.w]
        if self.group.gradient_format is FP32:
            return values
        if self.group.gradient_format is FP16:
            return [g.astype(np.float16) for g in values]
        return [(g.view(np.uint32) >> 16).astype(np.uint16) for g in values]

    def constants(self, t, **scales):
        return self.optimizer.constants(t, **scales)

    def step(self, gradients, t, **scales):
        after = [
            self.optimizer.step(w, g, state, t, **scales)
            for w, g, state in zip(self.w, gradients, self.state, strict=True)
        ]
        bits = None
        if self.group.rounding is STOCHASTIC:
            bits = group_bits(self.group, self.geometry, t, self.number, self.first_row)
        self.w = as_stored(self.group, Input.W, [one[0] for one in after], bits)
        arrays = {
            name: as_stored(self.group, NAMES[name], [one[1][name] for one in after], bits)
            for name in self.optimizer.state_names
        }
        self.state = [{name: arrays[name][i] for name in arrays} for i in range(len(after))]

    def copies(self):
        form = self.group.formats.weight
        return [copy_of(copied(form, w), self.group.copy_format) for w in self.w]


def same(got, expected):
    assert len(got) == len(expected)
    for one, other in zip(got, expected, strict=True):
        assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes())


def check(state, references):
    """All that is stored equals the references."""
    for number, reference in enumerate(references):
        same(state.read(Input.W)[number], reference.w)
        for name in reference.optimizer.state_names:
            same(state.read(NAMES[name])[number], [one[name] for one in reference.state])


def start(device, references, **options):
    state = device.optimizer_state([reference.group for reference in references], **options)
    m, v = (
        [
            [one.get(name, np.zeros_like(w)) for w, one in zip(each.w, each.state, strict=True)]
            for each in references
        ]
        for name in NAMES
    )
    state.initialise([reference.w for reference in references], m, v)
    return state


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda optimizer: optimizer.code.name)
@pytest.mark.parametrize(
    ("gradient", "copy"),
    [(FP32, CopyFormat.BF16), (FP16, CopyFormat.FP16), (BF16, CopyFormat.BF16), (FP32, CopyFormat.NONE)],
    ids=["fp32", "fp16", "bf16", "no-copy"],
)
def test_steps_as_the_reference(update_device, optimizer, gradient, copy, seed):
    """Three steps of some tensors, whose last row of tiles is not full."""
    random = np.random.default_rng(seed)
    reference = Reference(optimizer, [(17, 30), (), (333,)], random, gradient, copy)
    state = start(update_device, [reference])
    check(state, [reference])
    for t in (1, 2, 3):
        g = reference.gradients()
        copies = state.update([g], [reference.constants(t, unscale=0.5)])
        reference.step(g, t, unscale=0.5)
        state.commit()
        check(state, [reference])
        if copy is CopyFormat.NONE:
            assert copies == [None]
        else:
            same(copies[0], reference.copies())
        assert (state.current.updates, len(state.pinned)) == (t, 0)


FULL, HALF, EIGHT, SPLIT = StateFormat
NEAREST, STOCHASTIC = Rounding
STORED = {
    "w32_s16-nearest": (AdamW(0.01), StateFormats(FULL, HALF), NEAREST),
    "w32_s16": (AdamW(0.01), StateFormats(FULL, HALF), STOCHASTIC),
    "w16_s16": (AdamW(0.01), StateFormats(HALF, HALF), STOCHASTIC),
    "w16_s16-nearest": (Nesterov(0.1, 0.8), StateFormats(HALF, HALF), NEAREST),
    "w16": (SGD(0.1), StateFormats(HALF, FULL), STOCHASTIC),
    "w16x16_s16": (AdamW(0.01), StateFormats(SPLIT, HALF), STOCHASTIC),
}


@pytest.mark.parametrize(("optimizer", "formats", "rounding"), STORED.values(), ids=STORED)
def test_state_formats_as_the_reference(update_device, optimizer, formats, rounding, seed):
    as_the_reference(update_device, optimizer, formats, rounding, seed)


def as_the_reference(device, optimizer, formats, rounding, seed):
    """Two groups, of which the second has rows of its own; a step that is skipped has the same bits again."""
    random, g = np.random.default_rng(seed), device.config.geometry
    kind = {"geometry": g, "formats": formats, "rounding": rounding, "seed": seed}
    first = Reference(optimizer, [(17, 30), (), (333,)], random, BF16, CopyFormat.BF16, **kind)
    rows = first.group.layout(g).rows
    second = Reference(optimizer, [(5,)], random, BF16, number=1, first_row=rows, **kind)
    references = [first, second]
    state = start(device, references)
    check(state, references)
    for t in (1, 2, 3):
        gradients = [reference.gradients() for reference in references]
        constants = [reference.constants(t) for reference in references]
        copies = state.update(gradients, constants)
        if t == 2:
            state.skip()
            again = state.update(gradients, constants)
            same(again[0], copies[0])
        for reference, own in zip(references, gradients, strict=True):
            reference.step(own, t)
        state.commit()
        check(state, references)
        same(copies[0], first.copies())
        if t == 1:
            state.pin()  # so that the third generation is in a third stream, with the same bits
    assert state.nbytes == sum(
        ceil(reference.group.layout(g).tile.state_bytes * sum(w.size for w in reference.w))
        for reference in references
    )


SCALED = {
    "w16_s8": (AdamW(0.01), StateFormats(HALF, EIGHT), STOCHASTIC),
    "w32_s8-nearest": (Adam(0.01), StateFormats(FULL, EIGHT), NEAREST),
    "w16_s8-momentum": (Nesterov(0.1, 0.8), StateFormats(HALF, EIGHT), STOCHASTIC),
}


@pytest.fixture(params=["functional", "model", pytest.param("rtl", marks=pytest.mark.long)])
def scaled_device(request):
    """A device of each Link with FP8, with streams for optimizer state."""
    with open_device(replace(preset("tiny"), fp8_state=True), request.param, node=UPDATE_NODE) as device:
        yield device


@pytest.mark.parametrize(("optimizer", "formats", "rounding"), SCALED.values(), ids=SCALED)
def test_moments_in_fp8_as_the_reference(scaled_device, optimizer, formats, rounding, seed):
    as_the_reference(scaled_device, optimizer, formats, rounding, seed)


def test_statistics_are_right_when_a_store_overflows(scaled_device, seed):
    """Gradients whose squares and means are infinite: v is, and m is NaN, which E4M3 has in its place."""
    random, formats = np.random.default_rng(seed), StateFormats(HALF, EIGHT)
    reference = Reference(AdamW(0.01), [(500,)], random, FP32, formats=formats)
    state = start(scaled_device, [reference])
    (gradients,) = reference.gradients()
    gradients[:40] = np.float32(3e38)  # finite
    gradients[40:80:2], gradients[100] = np.inf, np.nan
    constants = reference.constants(1, unscale=4.0)
    state.update([[gradients]], [constants])
    found, expected = Totals.of(state.statistics[0]), statistics(gradients)
    assert (found.nans, found.infinities, found.overflow) == (expected.nans, expected.infinities, True)
    assert found.largest == np.inf
    reference.step([gradients], 1, unscale=4.0)
    state.commit()
    check(state, [reference])
    m, v = (state.read(array)[0][0] for array in (Input.M, Input.V))
    assert np.isinf(v[:40]).all() and np.isnan(m[:40]).all()
    assert np.isnan(v[100]) and np.isfinite(m[200:]).all() and np.isfinite(v[200:]).all()


def test_reads_beside_steps(update_device, seed):
    """An update is not suspended: reads and steps take turns on the dies."""
    random = np.random.default_rng(seed)
    reference = Reference(Momentum(0.1, 0.9), [(700,)], random)
    state = start(update_device, [reference])
    stream = update_device.stream("activations")
    array = random.standard_normal(1500)
    stored = stream.append(array)
    stream.flush()
    for t in (1, 2):
        reads = [stream.read_async(stored) for _ in range(4)]
        g = reference.gradients()
        state.update([g], [reference.constants(t)])
        reference.step(g, t)
        state.commit()
        for read in reads:
            assert np.array_equal(read.result(), array)
    check(state, [reference])


def test_state_of_several_zones(update_device, seed):
    g = update_device.config.geometry
    random = np.random.default_rng(seed)
    tile = Tile.of(g, OptimizerCode.ADAM, BF16, CopyFormat.FP16)
    rows = g.dies * g.pages + 1  # a zone, and a row of the next
    parameters = rows * g.channels * tile.parameters - 7
    reference = Reference(Adam(0.01), [(parameters,)], random, BF16, CopyFormat.FP16)
    state = start(update_device, [reference])
    for t in (1, 2):
        gradients = reference.gradients()
        copies = state.update([gradients], [reference.constants(t)])
        reference.step(gradients, t)
        same(copies[0], reference.copies())
        state.commit()
        check(state, [reference])


def test_groups_have_their_own_constants(update_device, seed):
    random = np.random.default_rng(seed)
    references = [
        Reference(AdamW(0.01), [(100,), (3, 5)], random, BF16, CopyFormat.BF16),
        Reference(AdamW(0.1, weight_decay=0.0), [(900,)], random, FP32),
        Reference(Momentum(0.1), [(2, 2)], random, FP16, CopyFormat.FP16),
    ]
    state = start(update_device, references)
    for t in (1, 2, 3):
        gradients = [reference.gradients() for reference in references]
        copies = state.update(gradients, [reference.constants(t) for reference in references])
        for reference, g in zip(references, gradients, strict=True):
            reference.step(g, t)
        state.commit()
        for number, reference in enumerate(references):
            same(state.read(Input.W)[number], reference.w)
            same(state.read(Input.M)[number], [one["m"] for one in reference.state])
        assert copies[1] is None
        same(copies[0], references[0].copies())
        same(copies[2], references[2].copies())


def test_statistics_before_the_commit(update_device, seed):
    random = np.random.default_rng(seed)
    references = [Reference(SGD(), [(700,)], random, BF16), Reference(SGD(), [(5, 50)], random)]
    state = start(update_device, references)
    gradients = [reference.gradients() for reference in references]
    state.update(gradients, [reference.constants(1) for reference in references])
    for dies, g in zip(state.statistics, gradients, strict=True):
        whole = statistics(g[0])
        assert max(die.largest for die in dies) == whole.largest
        assert Totals.of(dies).norm() == pytest.approx(Totals.of([whole]).norm(), rel=1e-6)
        assert not any(die.overflow for die in dies)
    state.skip()
    gradients[1][0][2, 3], gradients[1][0][4, 49] = np.nan, np.inf
    state.update(gradients, [reference.constants(1) for reference in references])
    assert not any(die.overflow for die in state.statistics[0])
    assert sum(die.nans for die in state.statistics[1]) == 1
    assert sum(die.infinities for die in state.statistics[1]) == 1
    state.skip()
    check(state, references)


def test_skip_leaves_everything_as_it_was(update_device, seed):
    reference = Reference(Adam(), [(500,)], np.random.default_rng(seed))
    state = start(update_device, [reference])
    current = state.current
    for _ in range(3):
        state.update([reference.gradients()], [reference.constants(1)])
        check(state, [reference])  # the old generation is whole until the commit
        state.skip()
        assert state.current == current
        check(state, [reference])
    g = reference.gradients()
    state.update([g], [reference.constants(1)])
    reference.step(g, 1)
    state.commit()
    check(state, [reference])


def test_a_pinned_generation_is_a_checkpoint(update_device, seed):
    """With three streams training goes on beside it."""
    reference = Reference(Momentum(0.1), [(200,)], np.random.default_rng(seed))
    names = ("state_a", "state_b", "trained")
    zones = {len(update_device.state_stream(name).report()) for name in names}
    names = names if len(zones) == 1 else names[:2]
    state = start(update_device, [reference], streams=names)
    checkpoint, kept = state.pin(), [w.copy() for w in reference.w]
    for t in range(1, 5 if len(names) == 3 else 2):
        g = reference.gradients()
        state.update([g], [reference.constants(t)])
        reference.step(g, t)
        state.commit()
        check(state, [reference])
        same(state.read(Input.W, checkpoint)[0], kept)
    state.release(checkpoint)
    for t in range(5, 7):
        g = reference.gradients()
        state.update([g], [reference.constants(t)])
        reference.step(g, t)
        state.commit()
    check(state, [reference])


class Page(NamedTuple):
    """Where a page lies, and what its identity says."""

    place: PagePlace
    stream: int
    zone: int
    content: bytes


def pages_of(link: RtlLink) -> list[Page]:
    """All pages with an identity."""
    g, p = link.config.geometry, PageIdentity
    found = []
    for place, content in link.raw_pages().items():
        record = content[g.page_bytes : g.identified_page_bytes]
        if is_identity(record):
            fields = int.from_bytes(record, "little")
            found.append(Page(place, p.stream.get(fields), p.zone.get(fields), content))
    return found


def test_a_page_of_another_zone(seed):
    """An update that meets one fails and changes nothing; when the right page is back it does not."""
    random = np.random.default_rng(seed)
    config = preset("tiny")
    with RtlLink(config, 8 << 20) as link, open_device(link=link, node=UPDATE_NODE) as device:
        g = config.geometry
        count = g.channels * g.planes * g.page_bytes // 12 * (g.dies * g.pages + 1)
        reference = Reference(Adam(0.01), [(count,)], random, BF16, CopyFormat.BF16)
        state = start(device, [reference])
        stream = device.stream("state_a").nsid - 1
        ours = [page for page in pages_of(link) if page.stream == stream]
        second = max(page.zone for page in ours)
        # Of the row that both zones have: only the zone, its number in the stream, tells them apart.
        right = next(page for page in ours if page.zone == second)
        channel, die, plane, _, number, _ = right.place
        wrong = next(
            page for page in ours
            if page.zone == second - 1 and (*page.place[:3], page.place[4]) == (channel, die, plane, number)
        )  # fmt: skip
        link.put_raw_page(*right.place[:5], wrong.content)
        gradients = reference.gradients()
        with pytest.raises(MediaError):
            state.update([gradients], [reference.constants(1)])
        assert state.current.updates == 0
        link.put_raw_page(*right.place[:5], right.content)
        check(state, [reference])
        copies = state.update([gradients], [reference.constants(1)])
        reference.step(gradients, 1)
        same(copies[0], reference.copies())
        state.commit()
        check(state, [reference])
