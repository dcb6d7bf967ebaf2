"""`flashtrain offload`: which saved tensors go to a storage, and when they come back."""

import argparse

from . import offload_compare, offload_network, offload_plan, offload_profile, offload_run
from .actions import add_actions, run_action
from .command import Command

ACTIONS = {
    "profile": ("record operations and saved tensors of a model of PyTorch", offload_profile),
    "network": ("capture a model of PyTorch at any batch", offload_network),
    "plan": ("plan the offloading of a profile", offload_plan),
    "compare": ("compare schedules beside storages", offload_compare),
    "run": ("play a plan on a device", offload_run),
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_actions(parser, ACTIONS)


COMMAND = Command(
    examples="""\
  flashtrain offload profile gpt2 --batch 8 --out profile.json
  flashtrain offload network resnet50 --out resnet50.json
  flashtrain offload profile my_module:my_function --measure 5 --ratios --out profile.json
  flashtrain offload compare gpt-chain --batch 8
  flashtrain offload plan gpt-chain --batch 8 --storage fms-codec --out plan.json --figure plan.png
  flashtrain offload plan profile.json --storage ssd --memory 8GiB --schedule flashneuron --out theirs.json
  flashtrain offload plan toy-chain --storage measured --preset small --memory 2MiB --out toy.json
  flashtrain offload run toy.json toy-chain --link rtl
""",
    add_arguments=add_arguments,
    run=run_action,
)
