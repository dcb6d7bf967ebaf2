"""The write buffer of a channel: page sets between the tensor buffer and the dies."""
