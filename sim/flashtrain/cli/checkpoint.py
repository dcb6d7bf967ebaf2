"""`flashtrain checkpoint`: models as checkpoints see them, and the memory that checkpoints free."""

import argparse

from . import checkpoint_memory, checkpoint_models
from .actions import add_actions, run_action
from .command import Command

ACTIONS = {
    "models": ("print the sizes of the poster's nine models, or capture them anew", checkpoint_models),
    "memory": ("train two networks in a tensor buffer that holds one of them", checkpoint_memory),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_actions(parser, ACTIONS)


COMMAND = Command(
    examples="""\
  flashtrain checkpoint models
  flashtrain checkpoint models --capture models.json
  flashtrain checkpoint memory                                   on small, through the RTL
  flashtrain checkpoint memory --link functional --quantum 1     a switch at each iteration, without time
  flashtrain checkpoint memory --network mlp --room 1.5          another network, and more memory

With `memory`, the arrays of a training lie in the tensor buffer. The training that waits is appended to the
stream `trained`, its memory is freed, and it is read back for its next turn. Each result must equal that of
the training alone in plain NumPy: exit code 1 if a bit differs. The first row has memory for both.
""",
    add_arguments=add_arguments,
    run=run_action,
    builds=False,
)
