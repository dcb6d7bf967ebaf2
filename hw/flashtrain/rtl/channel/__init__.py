"""One engine per channel: buffers, die agents, bus controller."""
