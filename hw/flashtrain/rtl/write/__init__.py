"""Write command pipeline: tensor buffer to channel buffers."""
