"""Training runs that are known to reach 95 % on the digits: network, optimizer, batch size and iterations."""

from dataclasses import dataclass, replace

from flashtrain.training.networks import Network, attention, convnet, mlp
from flashtrain.training.optimizers import Adam, Optimizer
from flashtrain.training.step_policy import StepPolicy


@dataclass(frozen=True)
class Recipe:
    """A training: its network, its optimizer, its batch size, its number of iterations, and its steps."""

    network: Network
    optimizer: Optimizer
    batch: int
    iterations: int
    policy: StepPolicy = StepPolicy()


RECIPES = {
    "mlp": Recipe(mlp(), Adam(), batch=128, iterations=80),
    # Enough weights to keep the dies of `small` busy in an update.
    "wide": Recipe(replace(mlp(hidden=2048), name="wide"), Adam(0.002), batch=128, iterations=30),
    "convnet": Recipe(convnet(), Adam(), batch=128, iterations=120),
    "attention": Recipe(attention(), Adam(), batch=128, iterations=100),
}
"""The recipes by the name of their network."""
