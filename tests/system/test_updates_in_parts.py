"""Updates whose gradients come one by one: the bits and statistics of an update with all of them at once."""

from dataclasses import replace

import numpy as np

from flashtrain.host import open_device
from flashtrain.numerics import copy_of
from flashtrain.spec.optimizer import CopyFormat, GradientFormat, Input
from flashtrain.spec.streams import UPDATE_NODE, NodeTable
from flashtrain.training.optimizers import AdamW, Momentum

from .test_updates import NAMES, Reference, same, start

_INPUTS, _ACTIVATIONS, _STATE, _JOURNAL = (
    UPDATE_NODE.named(name) for name in ("inputs", "activations", "state_a", "journal")
)
TWO_STATES = NodeTable(
    "two",
    (
        _INPUTS,
        *(replace(_STATE, nsid=nsid, name=f"state_{nsid}") for nsid in (3, 4, 5, 6)),
        _ACTIVATIONS,
        _JOURNAL,
    ),
)


def check(state, references):
    """All that is stored equals the references."""
    for number, reference in enumerate(references):
        same(state.read_group(Input.W, number), reference.w)
        for name in reference.optimizer.state_names:
            same(state.read_group(NAMES[name], number), [one[name] for one in reference.state])


def references_of(config, random):
    """Two groups of several rows, whose tensors begin and end anywhere in a row."""
    row = config.geometry.channels * config.geometry.page_set_bytes // 12
    sizes = [3, row // 2, 2 * row + 5, 1, row]
    return [
        Reference(AdamW(0.01, weight_decay=0.1), [(n,) for n in sizes], random, copy=CopyFormat.BF16),
        Reference(Momentum(0.1, 0.9), [(7,), (row,)], random, GradientFormat.FP16),
    ]


def tensors_of(references, random, shuffled):
    """The numbers of all tensors, by group: backward passes give them nearly in order."""
    pairs = [(group, tensor) for group, one in enumerate(references) for tensor in range(len(one.w))]
    return [pairs[number] for number in random.permutation(len(pairs))] if shuffled else pairs


def test_gradients_one_by_one(update_device, seed):
    """Other commands go on in between: reads of the current generation, and appends."""
    device, random = update_device, np.random.default_rng(seed)
    references = references_of(device.config, random)
    state = start(device, references)
    activations = device.stream("activations")
    for t in (1, 2, 3):
        given = [one.gradients() for one in references]
        constants = [one.constants(t) for one in references]
        state.update(given, constants)
        expected = state.statistics
        state.skip()
        under_way = state.begin(constants)
        for group, tensor in tensors_of(references, random, shuffled=t == 2):
            under_way.give(group, tensor, given[group][tensor])
            same([state.read_tensor(Input.W, group, tensor)], [references[group].w[tensor]])
            activations.append(np.ones(device.config.geometry.page_bytes, np.uint8))
        copies = under_way.result()
        assert state.statistics == expected
        activations.reset()
        for one, gradients in zip(references, given, strict=True):
            one.step(gradients, t)
        same(copies[0], [copy_of(w, CopyFormat.BF16) for w in references[0].w])
        state.commit()
        check(state, references)


def test_skipped_and_again(update_device, seed):
    """What a clipped step does: the generation is dropped, and the step taken again with a factor."""
    device, random = update_device, np.random.default_rng(seed)
    references = references_of(device.config, random)
    state = start(device, references)
    given = [one.gradients() for one in references]
    for clip, is_dropped in ((1.0, False), (1.0, True), (0.125, False)):
        under_way = state.begin([one.constants(1, clip=clip) for one in references])
        for group, tensor in tensors_of(references, random, shuffled=False):
            if not is_dropped or (group, tensor) != (1, 1):
                under_way.give(group, tensor, given[group][tensor])
        if is_dropped:
            under_way.drop()
            continue
        under_way.result()
        if clip == 1:
            state.skip()
    for one, gradients in zip(references, given, strict=True):
        one.step(gradients, 1, clip=0.125)
    state.commit()
    check(state, references)


def test_two_states_of_a_device(link, seed):
    """They share the constants of the dies: an update that another one came between is taken once more."""
    random = np.random.default_rng(seed)
    with open_device(link=link, node=TWO_STATES) as device:
        first, second = references_of(device.config, random)
        states = [
            start(device, [first], streams=("state_3", "state_4")),
            start(device, [second], streams=("state_5", "state_6")),
        ]
        given, between = first.gradients(), second.gradients()
        under_way = states[0].begin([first.constants(1)])
        for tensor in (0, 1, 2):
            under_way.give(0, tensor, given[tensor])
        states[1].update([between], [second.constants(1)])
        expected = states[1].statistics
        states[1].skip()
        under_way_too = states[1].begin([second.constants(1)])
        for tensor in (3, 4):
            under_way.give(0, tensor, given[tensor])
        for tensor in (0, 1):
            under_way_too.give(0, tensor, between[tensor])
        under_way_too.result()
        assert states[1].statistics == expected
        under_way.result()
        for one, gradients, state in zip((first, second), (given, between), states, strict=True):
            state.commit()
            one.step(gradients, 1)
            check(state, [one])
