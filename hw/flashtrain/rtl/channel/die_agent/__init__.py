"""The agent of a die: programs, reads, erases and updates, as bus operations."""
