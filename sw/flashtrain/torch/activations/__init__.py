"""Activations on the flash, by hooks on the tensors that PyTorch saves for the backward pass.

`OffloadActivations` is the context. A `SavedStorage` is a storage on its way. `ActivationMemory` decides
which of them are in memory, and `ActivationStore` moves their bytes.
"""
