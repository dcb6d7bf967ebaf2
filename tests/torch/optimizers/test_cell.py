"""Cells are divided as far as steps need it, and never joined."""

import torch

from flashtrain.spec.optimizer import CopyFormat, GradientFormat
from flashtrain.torch.optimizers.cell import Kind, in_order_of_arrival, made, refined
from flashtrain.torch.optimizers.formats import Formats

A, B, C, D = (torch.zeros(number) for number in (1, 2, 3, 4))


def kind_of(parameter):
    return Kind(Formats.of(parameter.dtype, None, None))


def content(cells):
    return [(cell.group, [len(p) for p in cell.parameters], cell.steps) for cell in cells]


def test_as_few_as_possible_at_first():
    cells = made([[A, B], [C]], lambda _: 0, kind_of)
    assert content(cells) == [(0, [2, 1], 0), (1, [3], 0)]  # the last one has its gradient first
    assert cells[0].formats == Formats(GradientFormat.FP32, CopyFormat.NONE)
    assert content(made([[A, B, C]], lambda p: len(p) % 2, kind_of)) == [(0, [3, 1], 1), (0, [2], 0)]
    half = torch.zeros(4).bfloat16()
    assert content(made([[A, half]], lambda _: 0, kind_of)) == [(0, [4], 0), (0, [1], 0)]
    counted = made([[A, B, C]], lambda _: 0, lambda p: Kind(kind_of(p).formats, p is not B))
    assert content(counted) == [(0, [3, 1], 0), (0, [2], 0)]


def test_divided_by_a_step():
    cells = made([[A, B], [C]], lambda _: 2, kind_of)
    assert content(refined(cells, [[A, B], [C]], {A, C}, kind_of)) == [
        (0, [2], 2),
        (0, [1], 2),
        (1, [3], 2),
    ]
    fine = refined(cells, [[A, B], [C]], {A}, kind_of)
    assert content(refined(fine, [[A, B], [C]], {A, B, C}, kind_of)) == content(fine)


def test_parameters_that_never_took_a_step_are_left_out():
    cells = made([[A, B], [C]], lambda _: 0, kind_of)
    assert content(refined(cells, [[A, B], [C]], {A}, kind_of)) == [(0, [1], 0)]


def test_new_and_removed_parameters_and_groups():
    cells = made([[A], [B, C]], lambda _: 1, kind_of)
    assert content(refined(cells, [[B, D], [A]], {A, B, D}, kind_of)) == [
        (0, [2], 1), (0, [4], 0), (1, [1], 1),
    ]  # fmt: skip


def test_the_cell_that_the_others_wait_least_for_comes_first():
    layers = [torch.zeros(10) for _ in range(4)]
    arrivals = {parameter: 4 - number for number, parameter in enumerate(layers)}  # the last layer first
    by_layer = made([[parameter] for parameter in layers], lambda _: 0, kind_of)
    assert content(in_order_of_arrival(by_layer, arrivals)) == [(n, [10], 0) for n in (3, 2, 1, 0)]
    # Weights and biases of the same layers: the few biases wait for the many weights, whatever their groups.
    biases = [torch.zeros(1) for _ in layers]
    arrivals = {p: 2 * a for p, a in arrivals.items()} | {p: 7 - 2 * n for n, p in enumerate(biases)}
    for groups in ([layers, biases], [biases, layers]):
        ordered = in_order_of_arrival(made(groups, lambda _: 0, kind_of), arrivals)
        assert [len(cell.parameters[0]) for cell in ordered] == [10, 1]
    # A large first layer comes last, as its gradient does.
    embedding = torch.zeros(1000)
    apart = made([[embedding], layers, biases], lambda _: 0, kind_of)
    ordered = in_order_of_arrival(apart, arrivals | {embedding: 9})
    assert [len(cell.parameters[0]) for cell in ordered] == [10, 1, 1000]
    assert in_order_of_arrival(apart, {}) == apart
