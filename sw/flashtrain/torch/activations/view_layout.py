"""How a tensor lies in its storage."""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class ViewLayout:
    """All that a strided tensor is beside its storage.

    `conjugated` and `negated` are PyTorch's lazy views; `kind` is the tensor's class.
    """

    dtype: torch.dtype
    offset: int
    size: torch.Size
    stride: tuple[int, ...]
    conjugated: bool
    negated: bool
    kind: type[torch.Tensor]

    @classmethod
    def of(cls, tensor: torch.Tensor) -> "ViewLayout":
        kind = torch.Tensor if isinstance(tensor, torch.nn.Parameter) else type(tensor)
        return cls(
            tensor.dtype, int(tensor.storage_offset()), tensor.size(), tensor.stride(),
            tensor.is_conj(), tensor.is_neg(), kind,
        )  # fmt: skip

    def view(self, storage: torch.UntypedStorage) -> torch.Tensor:
        """A tensor of this layout on `storage`."""
        tensor = torch.empty(0, dtype=self.dtype).set_(storage, self.offset, self.size, self.stride)
        if self.conjugated:
            tensor = tensor.conj()
        if self.negated:
            tensor = torch._neg_view(tensor)  # pyright: ignore[reportPrivateImportUsage]
        return tensor if self.kind is torch.Tensor else tensor.as_subclass(self.kind)

    def empty(self) -> torch.Tensor:
        """A tensor of this layout without elements, on a storage of its own."""
        tensor = torch.empty_strided(self.size, self.stride, dtype=self.dtype)
        return tensor if self.kind is torch.Tensor else tensor.as_subclass(self.kind)
