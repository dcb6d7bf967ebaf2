"""Profiles of regular networks from closed formulas, for the commands and for tests.

An operation takes the time of its FLOPs or of the bytes that it moves, whichever is more. The backward pass
of an operation has twice its FLOPs and bytes. Rates are peaks of a data sheet, so real networks take longer.
Ratios of codecs are those of all activations of a network of `flashtrain train` (docs/codec.md): attention
for the transformer, convnet for the other one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from flashtrain.training.offload.network import FLOAT_BYTES, STATE_BYTES
from flashtrain.training.offload.processor import V100, Processor, Work
from flashtrain.training.offload.profile import Phase, Profile, ProfiledOperation, SavedTensor, require_batch


class _Chain:
    """Collects operations; a saved tensor is needed by the backward pass of the operations that save it."""

    def __init__(self, processor: Processor, ratios: Mapping[str, float]) -> None:
        self._processor = processor
        self._ratios = ratios
        self._forward: list[tuple[str, float]] = []
        self._tensors: list[tuple[int, int, list[int], bool]] = []
        self.parameters = 0

    def operation(self, name: str, flops: float, moved: float, parameters: int = 0) -> int:
        """Add an operation; its index."""
        seconds = self._processor.seconds([Work(flops, moved)])
        self._forward.append((name, seconds))
        self.parameters += parameters
        return len(self._forward) - 1

    def saved(self, size: int, made: int, savers: list[int], relu: bool = False) -> None:
        """A storage that operation `made` has made and `savers` save."""
        self._tensors.append((size, made, savers, relu))

    def profile(self, model: str, batch: int) -> Profile:
        count = len(self._forward)
        operations = [ProfiledOperation(name, seconds, Phase.FORWARD) for name, seconds in self._forward]
        operations += [
            ProfiledOperation(f"{name}.backward", 2 * seconds, Phase.BACKWARD)
            for name, seconds in reversed(self._forward)
        ]
        tensors = [
            SavedTensor(
                f"saved/{number}",
                size,
                made,
                tuple(sorted(2 * count - 1 - saver for saver in savers)),
                max(savers),
                FLOAT_BYTES,
                relu,
                self._ratios,
            )
            for number, (size, made, savers, relu) in enumerate(sorted(self._tensors, key=lambda t: t[1]))
        ]
        return Profile(model, batch, tuple(operations), tuple(tensors), STATE_BYTES * self.parameters)


@dataclass(frozen=True)
class GptChain:
    """Transformer blocks with layer norm in front, attention with a stored softmax, and GELU."""

    layers: int = 24
    hidden: int = 1024
    heads: int = 16
    tokens: int = 1024
    processor: Processor = V100
    ratios: Mapping[str, float] = field(
        default_factory=lambda: {"window32": 1.29, "round16": 3.02, "zeros16": 2.11}, hash=False
    )

    def profile(self, batch: int) -> Profile:
        require_batch(batch)
        chain, h = _Chain(self.processor, self.ratios), self.hidden
        rows = batch * self.tokens
        size = rows * h * FLOAT_BYTES
        scores = batch * self.heads * self.tokens**2 * FLOAT_BYTES
        made = chain.operation("embed", 0, 2 * size)
        for layer in range(self.layers):
            name = f"h.{layer}"
            norm = chain.operation(f"{name}.ln_1", 0, 2 * size, 2 * h)
            chain.saved(size, made, [norm])
            qkv = chain.operation(f"{name}.qkv", 6 * rows * h * h, 4 * size, 3 * h * h)
            chain.saved(size, norm, [qkv])
            attention = chain.operation(
                f"{name}.attention", 4 * rows * self.tokens * h, 4 * size + 2 * scores
            )
            chain.saved(3 * size, qkv, [attention])
            chain.saved(scores, attention, [attention])
            project = chain.operation(f"{name}.proj", 2 * rows * h * h, 3 * size, h * h)
            chain.saved(size, attention, [project])
            norm = chain.operation(f"{name}.ln_2", 0, 2 * size, 2 * h)
            chain.saved(size, project, [norm])
            widen = chain.operation(f"{name}.fc_1", 8 * rows * h * h, 5 * size, 4 * h * h)
            chain.saved(size, norm, [widen])
            gelu = chain.operation(f"{name}.gelu", 0, 8 * size)
            chain.saved(4 * size, widen, [gelu])
            made = chain.operation(f"{name}.fc_2", 8 * rows * h * h, 6 * size, 4 * h * h)
            chain.saved(4 * size, gelu, [made])
        return chain.profile("gpt-chain", batch)


@dataclass(frozen=True)
class ResNetChain:
    """Bottleneck blocks of convolution, batch norm and ReLU, as in ResNet-50."""

    blocks: tuple[int, ...] = (3, 4, 6, 3)
    width: int = 64
    side: int = 56
    processor: Processor = V100
    ratios: Mapping[str, float] = field(
        default_factory=lambda: {"window32": 1.45, "round16": 3.32, "zeros16": 2.42}, hash=False
    )

    def profile(self, batch: int) -> Profile:
        require_batch(batch)
        chain = _Chain(self.processor, self.ratios)
        channels, side = self.width, self.side
        made = chain.operation("stem", 0, 2 * batch * channels * side * side * FLOAT_BYTES)
        for stage, blocks in enumerate(self.blocks):
            width = self.width << stage
            for block in range(blocks):
                for number, (kernel, outputs) in enumerate(((1, width), (3, width), (1, 4 * width))):
                    name = f"layer{stage + 1}.{block}.conv{number + 1}"
                    pixels = batch * side * side
                    taken, given = (pixels * c * FLOAT_BYTES for c in (channels, outputs))
                    weights = kernel * kernel * channels * outputs
                    convolution = chain.operation(name, 2 * pixels * weights, taken + given, weights)
                    # The ReLU saves its result, too: it is one storage.
                    chain.saved(taken, made, [made, convolution], relu=made > 0)
                    norm = chain.operation(f"{name}.bn", 0, 2 * given, 2 * outputs)
                    chain.saved(given, convolution, [norm])
                    made = chain.operation(f"{name}.relu", 0, 2 * given)
                    channels = outputs
            side = max(1, side // 2)
        return chain.profile("resnet-chain", batch)


@dataclass(frozen=True)
class ToyChain:
    """Equal operations that leave a tensor each, so small that a simulated device plays them."""

    operations: int = 16
    seconds: float = 120e-6
    bytes: int = 256 << 10

    def profile(self, batch: int) -> Profile:
        require_batch(batch)
        chain = _Chain(Processor(flops_per_second=1.0), {})
        for number in range(self.operations):
            made = chain.operation(f"op.{number}", batch * self.seconds, 0)
            chain.saved(batch * self.bytes, made, [made])
        return chain.profile("toy-chain", batch)


class Sample(Protocol):
    """A network whose profile a formula gives."""

    def profile(self, batch: int) -> Profile: ...


SAMPLES: dict[str, Sample] = {
    "gpt-chain": GptChain(),
    "resnet-chain": ResNetChain(),
    "toy-chain": ToyChain(),
}
"""By name."""
