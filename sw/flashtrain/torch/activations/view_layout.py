"""How a tensor lies in its storage."""

from dataclasses import dataclass

import torch

from flashtrain.torch.ranks.shards import Distribution, shard


@dataclass(frozen=True)
class ViewLayout:
    """All that a strided tensor, or the shard of a distributed one, is beside its storage.

    `conjugated` and `negated` are PyTorch's lazy views; `kind` is the tensor's class, or that of the shard.
    """

    dtype: torch.dtype
    offset: int
    size: torch.Size
    stride: tuple[int, ...]
    conjugated: bool
    negated: bool
    kind: type[torch.Tensor]
    distribution: Distribution | None
    device: torch.device

    @classmethod
    def of(cls, tensor: torch.Tensor) -> "ViewLayout":
        part = shard(tensor)
        kind = torch.Tensor if isinstance(part, torch.nn.Parameter) else type(part)
        return cls(
            part.dtype, int(part.storage_offset()), part.size(), part.stride(),
            part.is_conj(), part.is_neg(), kind, Distribution.of(tensor), part.device,
        )  # fmt: skip

    def view(self, storage: torch.UntypedStorage) -> torch.Tensor:
        """A tensor of this layout on `storage`."""
        tensor = torch.empty(0, dtype=self.dtype, device=self.device).set_(
            storage, self.offset, self.size, self.stride
        )
        if self.conjugated:
            tensor = tensor.conj()
        if self.negated:
            tensor = torch._neg_view(tensor)  # pyright: ignore[reportPrivateImportUsage]
        return self._of_kind(tensor)

    def empty(self) -> torch.Tensor:
        """A tensor of this layout without elements, on a storage of its own."""
        return self._of_kind(
            torch.empty_strided(self.size, self.stride, dtype=self.dtype, device=self.device)
        )

    def _of_kind(self, tensor: torch.Tensor) -> torch.Tensor:
        own = tensor if self.kind is torch.Tensor else tensor.as_subclass(self.kind)
        return own if self.distribution is None else self.distribution.tensor(own)
