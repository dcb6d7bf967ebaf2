"""GPT-2, GPT-Neo and BERT as `transformers` defines them."""

from dataclasses import dataclass

import torch

from flashtrain.torch.networks.definitions import definitions
from flashtrain.torch.networks.training_case import TrainingCase, loss_of

GPT2_TOKENS = 1024
GPT_NEO_TOKENS = 2048
BERT_TOKENS = 512
"""Tokens of an example: the most that each network has positions for."""

PLAIN_ATTENTION = "eager"
"""Attention as all were published with: matrix products and a softmax between them."""


@dataclass(frozen=True)
class Transformer:
    """The size of a transformer; all else is the default of `transformers`."""

    layers: int
    hidden: int
    heads: int


def gpt2(size: Transformer, batch: int, tokens: int = GPT2_TOKENS) -> TrainingCase:
    """GPT-2, which predicts each next token, in training mode with its dropout."""
    transformers = definitions("transformers")
    config = transformers.GPT2Config(
        n_layer=size.layers,
        n_embd=size.hidden,
        n_head=size.heads,
        n_positions=max(tokens, GPT2_TOKENS),
        use_cache=False,
        attn_implementation=PLAIN_ATTENTION,
    )
    ids = torch.randint(config.vocab_size, (batch, tokens))
    # Without a mask `transformers` looks at the data for the ends of packed sequences.
    inputs = {"input_ids": ids, "labels": ids, "attention_mask": torch.ones_like(ids)}
    model = transformers.GPT2LMHeadModel(config).train()
    model.loss_type = "ForCausalLM"  # the default, but it warns without
    return TrainingCase(model, loss_of, inputs)


def gpt_neo(size: Transformer, batch: int, tokens: int = GPT_NEO_TOKENS) -> TrainingCase:
    """GPT-Neo, which predicts each next token.

    Every second layer attends to the last 256 tokens only; it computes all products, and masks the others.
    """
    transformers = definitions("transformers")
    config = transformers.GPTNeoConfig(
        num_layers=size.layers,
        hidden_size=size.hidden,
        num_heads=size.heads,
        attention_types=[[["global", "local"], size.layers // 2]],
        max_position_embeddings=max(tokens, GPT_NEO_TOKENS),
        use_cache=False,
        attn_implementation=PLAIN_ATTENTION,
    )
    ids = torch.randint(config.vocab_size, (batch, tokens))
    inputs = {"input_ids": ids, "labels": ids, "attention_mask": torch.ones_like(ids)}
    model = transformers.GPTNeoForCausalLM(config).train()
    model.loss_type = "ForCausalLM"
    return TrainingCase(model, loss_of, inputs)


def bert(size: Transformer, batch: int, tokens: int = BERT_TOKENS) -> TrainingCase:
    """BERT in its pre-training: masked tokens, and whether the second sentence follows the first."""
    transformers = definitions("transformers")
    config = transformers.BertConfig(
        num_hidden_layers=size.layers,
        hidden_size=size.hidden,
        num_attention_heads=size.heads,
        intermediate_size=4 * size.hidden,
        attn_implementation=PLAIN_ATTENTION,
    )
    ids = torch.randint(config.vocab_size, (batch, tokens))
    inputs = {"input_ids": ids, "labels": ids, "next_sentence_label": torch.randint(2, (batch,))}
    return TrainingCase(transformers.BertForPreTraining(config).train(), loss_of, inputs)
