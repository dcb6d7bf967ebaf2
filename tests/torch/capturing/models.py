"""Small models that tests capture."""

import torch
from torch import nn
from torch.nn.functional import cross_entropy, gelu, softmax

BATCH, INPUTS, HIDDEN, CLASSES = 16, 24, 32, 10


def labels(batch=BATCH, device="cpu"):
    return torch.arange(batch, device=device) % CLASSES


def mlp(device="cpu"):
    """Two linear layers with a ReLU between; model, loss, inputs."""
    model = nn.Sequential(nn.Linear(INPUTS, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, CLASSES)).to(device)
    target = labels(device=device)
    return model, lambda output: cross_entropy(output, target), torch.rand(BATCH, INPUTS, device=device)


class Attention(nn.Module):
    """One head, whose query, key and value are views of one tensor."""

    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        q, k, v = self.qkv(self.norm(x)).split(x.shape[-1], dim=-1)
        weights = softmax(q @ k.transpose(-1, -2) / x.shape[-1] ** 0.5, dim=-1)
        return x + self.out(weights @ v)


class TextModel(nn.Module):
    """An embedding that is also the last layer, attention, and an MLP."""

    def __init__(self, vocabulary=20, width=8):
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, width)
        self.attention = Attention(width)
        self.head = nn.Linear(width, vocabulary, bias=False)
        self.head.weight = self.embedding.weight

    def forward(self, ids):
        return self.head(gelu(self.attention(self.embedding(ids))))


def text(device="cpu"):
    with torch.device(device):
        model, ids = TextModel(), torch.arange(12).reshape(2, 6)
    return model, lambda output: cross_entropy(output.flatten(0, 1), ids.flatten()), ids


def images(device="cpu"):
    """Convolution, batch norm with buffers, an in-place ReLU, pooling with indices."""
    model = nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1), nn.BatchNorm2d(4), nn.ReLU(inplace=True), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(4 * 16, CLASSES),
    ).to(device)  # fmt: skip
    target = labels(4, device)
    return model, lambda output: cross_entropy(output, target), torch.rand(4, 3, 8, 8, device=device)


class Router(nn.Module):
    """Chooses by indices alone, as DeepSeek-V3: the node that saved them first ends in the forward pass."""

    def __init__(self, choose):
        super().__init__()
        self.gate, self.out, self.choose = nn.Linear(32, 32), nn.Linear(32, 32), choose

    def forward(self, x):
        scores = self.gate(x).sigmoid()
        weights = scores.gather(1, self.choose(scores))
        return self.out(x) * weights.sum(1, keepdim=True)


CHOICES = {
    "topk": lambda scores: scores.topk(8, dim=1)[1],
    "sort": lambda scores: scores.sort(dim=1)[1],
    "max": lambda scores: scores.max(dim=1, keepdim=True)[1],
}


def router(name):
    return Router(CHOICES[name]), lambda y: y.square().mean(), torch.randn(16, 32)


MODELS = {"mlp": mlp, "text": text, "images": images}


class Recurrent(nn.Module):
    """Its cells have pieces of one storage with version counters of their own."""

    def __init__(self):
        super().__init__()
        self.cells = nn.GRU(8, 16, batch_first=True)

    def forward(self, x):
        return self.cells(x)[0]


def recurrent():
    return Recurrent(), torch.Tensor.sum, torch.rand(4, 5, 8)
