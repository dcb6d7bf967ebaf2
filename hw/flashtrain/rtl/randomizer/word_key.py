"""The key of a word (`flashtrain.spec.randomizer`) as logic."""

from amaranth import Cat, Const, Mux, Value

from flashtrain.spec.geometry import Geometry
from flashtrain.spec.randomizer import HALF_BITS, PLAIN_BITS, ROUND_CONSTANTS, ROUNDS, ROW_BITS, plain_word

KEY_BITS = 2 * HALF_BITS


def half_done(row: Value, plane: Value, word: Value) -> Value:
    """The first half of the rounds: 32 bits, five levels of logic of four inputs."""
    return _rounds(_half(word), _half(Cat(row, _padding(row, ROW_BITS), plane)), range(ROUNDS // 2))


def finished(state: Value) -> Value:
    """The key, from what `half_done` gave: another five levels."""
    return _rounds(state[HALF_BITS:], state[:HALF_BITS], range(ROUNDS // 2, ROUNDS))


def but_for_version(geometry: Geometry, key: Value, word: Value) -> Value:
    """The key of that word of a page, without the bits that stay as they are."""
    return key & Mux(word == plain_word(geometry), ~PLAIN_BITS, ~0)


def _rounds(left: Value, right: Value, numbers: range) -> Value:
    for number in numbers:
        mixed = (left.rotate_left(1) & left.rotate_left(8)) ^ left.rotate_left(2)
        left, right = (right ^ mixed ^ ROUND_CONSTANTS[number])[:HALF_BITS], left
    return Cat(right, left)


def _half(value: Value) -> Value:
    return Cat(value, _padding(value, HALF_BITS))


def _padding(value: Value, bits: int) -> Const:
    return Const(0, bits - len(value))
