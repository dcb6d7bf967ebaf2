"""The data path between the tensor buffer and the channels."""
