"""Compression of activations: the window code beside its alternatives, on real tensors."""
