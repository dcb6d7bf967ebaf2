"""Read command pipeline: channel buffers to tensor buffer."""
