"""The key of a word (`flashtrain.spec.randomizer`) as logic."""

from amaranth import Cat, Const, Module, Mux, Signal, Value

from flashtrain.spec.geometry import Geometry
from flashtrain.spec.randomizer import HALF_BITS, PAGE_BITS, PLAIN_BITS, ROUND_CONSTANTS, ROUNDS, plain_word

KEY_BITS = 2 * HALF_BITS


def half_done(m: Module, name: str, page: Value, plane: Value, word: Value) -> Value:
    """The first half of the rounds: 32 bits, five levels of logic of four inputs. `name`: of its signals."""
    place = Cat(page, Const(0, PAGE_BITS - len(page)), plane)
    return _rounds(m, name, word, place, range(ROUNDS // 2))


def finished(m: Module, name: str, state: Value) -> Value:
    """The key, from what `half_done` gave: another five levels."""
    return _rounds(m, name, state[HALF_BITS:], state[:HALF_BITS], range(ROUNDS // 2, ROUNDS))


def but_for_version(geometry: Geometry, key: Value, word: Value) -> Value:
    """The key of that word of a page, without the bits that stay as they are."""
    every = (1 << KEY_BITS) - 1
    return key & Mux(word == plain_word(geometry), every ^ PLAIN_BITS, every)


def _rounds(m: Module, name: str, left: Value, right: Value, numbers: range) -> Value:
    for number in numbers:
        # A signal for each round: an expression of all of them would be huge.
        one = Signal(HALF_BITS, name=f"{name}_{number}")
        m.d.comb += one.eq(left)
        mixed = (one.rotate_left(1) & one.rotate_left(8)) ^ one.rotate_left(2)
        left, right = (right ^ mixed ^ ROUND_CONSTANTS[number])[:HALF_BITS], one
    last = Signal(HALF_BITS, name=f"{name}_{numbers.stop}")
    m.d.comb += last.eq(left)
    return Cat(right, last)
