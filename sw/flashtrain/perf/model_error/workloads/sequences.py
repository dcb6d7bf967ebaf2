"""Whole training sequences."""

from dataclasses import dataclass

from flashtrain.host import Device
from flashtrain.spec import NodeTable
from flashtrain.spec.streams import Codec
from flashtrain.training.data import digits
from flashtrain.training.flash_training import replay, train_through_flash
from flashtrain.training.recipes import RECIPES
from flashtrain.training.sequence import UpdatePlace, training_sequence
from flashtrain.training.tensors import DeviceStorage

from ..point import Quantity, Values

SEED = 1


@dataclass(frozen=True)
class Training:
    """`iterations` iterations of the training of `RECIPES[recipe]` through the flash, with real data.

    - replayed: the traffic of its training command sequence alone, with made-up data.
    - codec: of the activations.
    """

    recipe: str
    iterations: int
    place: UpdatePlace = UpdatePlace.DIE
    replayed: bool = False
    codec: Codec = Codec.RAW

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        return (Quantity.CYCLES,)

    @property
    def node(self) -> NodeTable:
        return self.place.node.with_codecs(activations=self.codec)

    def run(self, device: Device) -> Values:
        recipe, storage = RECIPES[self.recipe], DeviceStorage.on(device)
        sequence = training_sequence(recipe.network, recipe.batch, recipe.optimizer, self.place)
        begin = device.cycles
        if self.replayed:
            replay(sequence, self.iterations, storage)
        else:
            how = (recipe.network, digits(), recipe.optimizer, recipe.batch, self.iterations, SEED)
            train_through_flash(*how, storage, sequence)
        return {Quantity.CYCLES: device.cycles - begin}
