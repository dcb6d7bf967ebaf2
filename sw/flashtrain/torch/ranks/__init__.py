"""Training by several ranks of `torch.distributed`: each has a device, and all commit the same steps."""
