"""Options of `flashtrain train` that say how a network is trained, and the recipe that they make."""

import argparse
from dataclasses import replace

from flashtrain.spec import ConfigError
from flashtrain.training.activation_format import ActivationFormat
from flashtrain.training.optimizers import OPTIMIZERS
from flashtrain.training.recipes import Recipe
from flashtrain.training.schedules import Constant, Cosine, Linear, Schedule, Step, WarmUp
from flashtrain.training.step_policy import StepPolicy

from .command import above_zero, at_least_one
from .known_recipe import known_recipe

DYNAMIC = "dynamic"
_FIRST_DYNAMIC = 65536.0
_MOST_SCALE = 2.0**127
_SCHEDULES = "constant, linear, cosine, step:N:FACTOR; behind warm-up:N, too"


def add_training_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--iterations", type=at_least_one, metavar="N", help="mini-batches")
    parser.add_argument("--batch", type=at_least_one, metavar="N", help="examples per iteration")
    parser.add_argument(
        "--optimizer", choices=list(OPTIMIZERS), metavar="NAME",
        help=f"{', '.join(OPTIMIZERS)} (default: the recipe's, adam)",
    )  # fmt: skip
    parser.add_argument(
        "--learning-rate", type=above_zero, metavar="X", help="(default: the recipe's or the optimizer's)"
    )
    parser.add_argument(
        "--schedule", metavar="NAME", default="constant", help=f"{_SCHEDULES} (default: constant)"
    )
    parser.add_argument(
        "--clip", type=above_zero, metavar="X", help="the most that the norm of all gradients is"
    )
    parser.add_argument(
        "--loss-scale", type=_loss_scale, metavar="X", help=f"factor of the loss, or {DYNAMIC} (default: 1)"
    )
    parser.add_argument(
        "--activations", choices=[form.value for form in ActivationFormat], metavar="NAME", default="fp32",
        help="their format between layers and on the flash: fp32, fp16 or bf16 (default: fp32)",
    )  # fmt: skip
    parser.add_argument(
        "--evaluate", type=at_least_one, metavar="N", help="test every N iterations (default: 16 times or so)"
    )


def chosen_recipe(options: argparse.Namespace) -> Recipe:
    """The recipe of the network that the options name, with what they change."""
    known = known_recipe(options.network)
    optimizer = OPTIMIZERS[options.optimizer] if options.optimizer else known.optimizer
    if options.learning_rate is not None:
        optimizer = replace(optimizer, **{"learning_rate": options.learning_rate})
    iterations = options.iterations or known.iterations
    dynamic = options.loss_scale == DYNAMIC
    policy = StepPolicy(
        parse_schedule(options.schedule, iterations),
        options.clip,
        _FIRST_DYNAMIC if dynamic else options.loss_scale or 1.0,
        dynamic,
    )
    trained = replace(known.network, activations=ActivationFormat(options.activations))
    return Recipe(trained, optimizer, options.batch or known.batch, iterations, policy)


def parse_schedule(text: str, iterations: int) -> Schedule:
    """The schedule of a run of so many iterations; :class:`ConfigError` for another text."""
    first, _, then = text.partition(",")
    kind, *numbers = first.split(":")
    try:
        match kind, numbers:
            case "warm-up", [count]:
                warm_up = int(count)
                left = max(1, iterations - warm_up)
                return WarmUp(warm_up, parse_schedule(then, left) if then else Constant())
            case "step", [every, factor] if not then:
                return Step(int(every), float(factor))
            case "constant", [] if not then:
                return Constant()
            case "linear", [] if not then:
                return Linear(iterations)
            case "cosine", [] if not then:
                return Cosine(iterations)
            case _:
                pass
    except ValueError:
        pass
    raise ConfigError(f"--schedule is {text!r}; expected {_SCHEDULES}")


def _loss_scale(text: str) -> float | str:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if text != DYNAMIC and not 0 < number <= _MOST_SCALE:
        raise argparse.ArgumentTypeError(f"expected {DYNAMIC} or a number above 0, got {text!r}")
    return text if text == DYNAMIC else number
