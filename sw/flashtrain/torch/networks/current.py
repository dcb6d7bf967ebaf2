"""Current models as `transformers` builds them, with its default attention and experts."""

from collections.abc import Mapping

import torch

from flashtrain.torch.networks.definitions import definitions
from flashtrain.torch.networks.training_case import TrainingCase, loss_of

TOKENS = 4096
"""Of an example of a language model."""

LLAMA_3_1_8B = {
    "vocab_size": 128_256,
    "hidden_size": 4096,
    "intermediate_size": 14_336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
}
MIXTRAL_8X7B = {
    "vocab_size": 32_000,
    "hidden_size": 4096,
    "intermediate_size": 14_336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "num_local_experts": 8,
    "num_experts_per_tok": 2,
}
QWEN3_30B_A3B = {
    "vocab_size": 151_936,
    "hidden_size": 2048,
    "moe_intermediate_size": 768,
    "num_hidden_layers": 48,
    "num_attention_heads": 32,
    "num_key_value_heads": 4,
    "head_dim": 128,
    "num_experts": 128,
    "num_experts_per_tok": 8,
}
GEMMA_3_27B = {
    "vocab_size": 262_208,
    "hidden_size": 5376,
    "intermediate_size": 21_504,
    "num_hidden_layers": 62,
    "num_attention_heads": 32,
    "num_key_value_heads": 16,
    "head_dim": 128,
    "sliding_window": 1024,
}
DEEPSEEK_V3 = {
    "vocab_size": 129_280,
    "hidden_size": 7168,
    "intermediate_size": 18_432,
    "moe_intermediate_size": 2048,
    "num_hidden_layers": 61,
    "first_k_dense_replace": 3,
    "num_attention_heads": 128,
    "num_key_value_heads": 128,
    "q_lora_rank": 1536,
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "n_routed_experts": 256,
    "num_experts_per_tok": 8,
    "n_shared_experts": 1,
}
WHISPER_LARGE_V3 = {
    "vocab_size": 51_866,
    "num_mel_bins": 128,
    "d_model": 1280,
    "encoder_layers": 32,
    "decoder_layers": 32,
    "encoder_attention_heads": 20,
    "decoder_attention_heads": 20,
    "encoder_ffn_dim": 5120,
    "decoder_ffn_dim": 5120,
}


def language_model(kind: str, sizes: Mapping[str, int], batch: int) -> TrainingCase:
    """A model that predicts each next token, such as `Llama`; `sizes` are arguments of its configuration."""
    transformers = definitions("transformers")
    config = getattr(transformers, f"{kind}Config")(**sizes, use_cache=False)
    ids = torch.randint(config.vocab_size, (batch, TOKENS))
    inputs = {"input_ids": ids, "labels": ids, "attention_mask": torch.ones_like(ids)}
    return TrainingCase(transformers.AutoModelForCausalLM.from_config(config).train(), loss_of, inputs)


def whisper(sizes: Mapping[str, int], batch: int) -> TrainingCase:
    """Whisper, which writes the words of half a minute of sound: as many frames and tokens as it takes."""
    transformers = definitions("transformers")
    config = transformers.WhisperConfig(**sizes, use_cache=False)
    labels = torch.randint(config.vocab_size, (batch, config.max_target_positions))
    # The first convolution takes two frames for each position of the encoder.
    sound = torch.rand(batch, config.num_mel_bins, 2 * config.max_source_positions)
    model = transformers.WhisperForConditionalGeneration(config).train()
    return TrainingCase(model, loss_of, {"input_features": sound, "labels": labels})
