"""The read buffer of a channel: pages from the dies or the write buffer to the tensor buffer."""
