"""Current models: parameters as published, FLOPs in closed form, and the recordings of real tensors."""

import pytest
import torch

from flashtrain.torch import capture
from flashtrain.torch.capturing.target import capture_target
from flashtrain.torch.networks.training_case import loss_of

transformers = pytest.importorskip("transformers", reason="needs transformers")

TOKENS = 4096
FRAMES, POSITIONS, WORDS = 3000, 1500, 448
"""Of an example of Whisper: of its sound, before and after the convolutions, and of its text."""


def decoder(layers, hidden, heads, groups, head, inner, vocabulary, experts=0, chosen=1):
    """FLOPs of grouped-query attention and gated MLPs, as experts behind a linear router if there are any.

    All elements of the attention's matrices count, those that a mask hides, too.
    """
    attention = 2 * hidden * heads * head + 2 * hidden * groups * head
    layer = attention + chosen * 3 * hidden * inner + experts * hidden
    return 2 * TOKENS * (layers * layer + vocabulary * hidden) + layers * 4 * TOKENS**2 * heads * head


def deepseek(hidden=7168, heads=128, plain=128, rotated=64, value=128, query=1536, latent=512):
    """FLOPs of DeepSeek-V3 (its report, 2.1 and 4.2): latent attention, 3 dense layers, 58 with experts."""
    queries = hidden * query + query * heads * (plain + rotated)
    values = hidden * (latent + rotated) + latent * heads * (plain + value)
    attention = queries + values + heads * value * hidden
    experts = 256 * hidden + (8 + 1) * 3 * hidden * 2048
    products = 61 * attention + 3 * 3 * hidden * 18_432 + 58 * experts + 129_280 * hidden
    return 2 * TOKENS * products + 61 * 2 * TOKENS**2 * heads * (plain + rotated + value)


def whisper(layers=32, hidden=1280):
    """FLOPs of Whisper: two convolutions of width 3, an encoder, and a decoder that attends to both."""
    convolutions = 2 * 3 * hidden * (FRAMES * 128 + POSITIONS * hidden)
    encoder = 2 * POSITIONS * 12 * hidden**2 + 4 * POSITIONS**2 * hidden
    across = 2 * (WORDS + POSITIONS) * 2 * hidden**2 + 4 * WORDS * POSITIONS * hidden
    decoder = 2 * WORDS * 12 * hidden**2 + 4 * WORDS**2 * hidden + across
    return convolutions + layers * (encoder + decoder) + 2 * WORDS * hidden * 51_866


MODELS = {  # parameters of the published files, and FLOPs of a forward pass
    "llama-3.1-8b": (8_030_261_248, decoder(32, 4096, 32, 8, 128, 14_336, 128_256)),
    "mixtral-8x7b": (46_702_792_704, decoder(32, 4096, 32, 8, 128, 14_336, 32_000, 8, 2)),
    "qwen3-30b-a3b": (30_532_122_624, decoder(48, 2048, 32, 4, 128, 768, 151_936, 128, 8)),
    # Without its part for images.
    "gemma-3-27b": (27_009_346_304, decoder(62, 5376, 32, 16, 128, 21_504, 262_208)),
    # Without its part that predicts the token after the next, and biases of routers, which are buffers here.
    "deepseek-v3": (671_026_404_352, deepseek()),
    "whisper-large-v3": (1_543_490_560, whisper()),
}


@pytest.mark.long("qwen3")
@pytest.mark.long("gemma")
@pytest.mark.long("deepseek")
@pytest.mark.long("whisper")
@pytest.mark.parametrize("name", MODELS)
def test_parameters_and_flops(name):
    recording = capture_target(name, batch=1).recording
    parameters, forward = MODELS[name]
    assert recording.parameter_count == parameters
    assert sum(each.flops for each in recording.operations if not each.backward) == forward
    # The backward pass takes twice as many, but for the gradient of a sound.
    sound = 2 * FRAMES * 3 * 128 * 1280 if name.startswith("whisper") else 0
    assert recording.flops == 3 * forward - sound


SMALL = {
    "vocab_size": 100, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8,
}  # fmt: skip
EXPERTS = {"moe_intermediate_size": 32, "num_experts_per_tok": 2}
CONFIGURATIONS = {
    "Llama": SMALL,
    "Mixtral": {**SMALL, "num_local_experts": 4},
    "Qwen3": SMALL,
    "Qwen3Moe": {**SMALL, **EXPERTS, "num_experts": 8},
    "Gemma3Text": {**SMALL, "sliding_window": 8},
    "GptOss": {**SMALL, "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": 8},
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("kind", CONFIGURATIONS)
def test_recordings_with_and_without_data(kind, dtype):
    """With padding, real tensors take the same branch. On the CPU attention has a form of its own."""
    sizes = CONFIGURATIONS[kind]
    recordings = []
    for device in ("cpu", "meta"):
        config = getattr(transformers, f"{kind}Config")(
            **sizes, use_cache=False, pad_token_id=0, attn_implementation="eager"
        )
        with torch.device(device):
            model = transformers.AutoModelForCausalLM.from_config(config, dtype=dtype).train()
            ids = torch.arange(32).reshape(2, 16)
            inputs = {"input_ids": ids, "labels": ids, "attention_mask": (ids < 28).long()}
            recordings.append(capture(model, loss_of, inputs).recording)
    real, meta = recordings
    assert meta.parameters == real.parameters
    assert meta.flops == real.flops
    assert [(s.bytes, s.dtype, s.module) for s in meta.saves] == [
        (s.bytes, s.dtype, s.module) for s in real.saves
    ]
