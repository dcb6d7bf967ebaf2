"""The networks by name."""

from collections.abc import Callable, Mapping
from functools import partial

from flashtrain.torch.errors import CaptureError
from flashtrain.torch.networks.current import (
    DEEPSEEK_V3,
    GEMMA_3_27B,
    LLAMA_3_1_8B,
    MIXTRAL_8X7B,
    QWEN3_30B_A3B,
    WHISPER_LARGE_V3,
    language_model,
    whisper,
)
from flashtrain.torch.networks.language import Transformer, bert, gpt2, gpt_neo
from flashtrain.torch.networks.training_case import TrainingCase
from flashtrain.torch.networks.vision import classifier, googlenet

NETWORKS: Mapping[str, Callable[[int], TrainingCase]] = {
    "gpt2": partial(gpt2, Transformer(layers=12, hidden=768, heads=12)),
    "gpt2-medium": partial(gpt2, Transformer(layers=24, hidden=1024, heads=16)),
    "gpt2-large": partial(gpt2, Transformer(layers=36, hidden=1280, heads=20)),
    "gpt2-xl": partial(gpt2, Transformer(layers=48, hidden=1600, heads=25)),
    "gpt-neo-1.3b": partial(gpt_neo, Transformer(layers=24, hidden=2048, heads=16)),
    "bert-base": partial(bert, Transformer(layers=12, hidden=768, heads=12)),
    "bert-large": partial(bert, Transformer(layers=24, hidden=1024, heads=16)),
    "resnet18": partial(classifier, "resnet18"),
    "resnet50": partial(classifier, "resnet50"),
    "resnet152": partial(classifier, "resnet152"),
    "densenet121": partial(classifier, "densenet121"),
    "densenet161": partial(classifier, "densenet161"),
    "googlenet": googlenet,
    "alexnet": partial(classifier, "alexnet"),
    "vgg11": partial(classifier, "vgg11"),
    "vit-b-16": partial(classifier, "vit_b_16"),
    "vit-l-16": partial(classifier, "vit_l_16"),
    "llama-3.1-8b": partial(language_model, "Llama", LLAMA_3_1_8B),
    "mixtral-8x7b": partial(language_model, "Mixtral", MIXTRAL_8X7B),
    "qwen3-30b-a3b": partial(language_model, "Qwen3Moe", QWEN3_30B_A3B),
    "gemma-3-27b": partial(language_model, "Gemma3Text", GEMMA_3_27B),
    "deepseek-v3": partial(language_model, "DeepseekV3", DEEPSEEK_V3),
    "whisper-large-v3": partial(whisper, WHISPER_LARGE_V3),
}
"""What makes a network for a batch size, by its name.

The sizes of GPT-2 are those of Radford et al. (2019). The size of GPT-Neo is that of EleutherAI's file, and
those from `llama-3.1-8b` on are those of the configurations that their makers published.
"""


def build(name: str, batch: int) -> TrainingCase:
    """A network on PyTorch's current default device, with random inputs of `batch` examples.

    Raises `CaptureError` for an unknown name, and `MissingExtra` if a definition is not installed.
    """
    if name not in NETWORKS:
        raise CaptureError(f"no network {name!r}; expected one of {', '.join(NETWORKS)}")
    if batch < 1:
        raise CaptureError(f"{name}: the batch is {batch}; expected at least 1")
    return NETWORKS[name](batch)
