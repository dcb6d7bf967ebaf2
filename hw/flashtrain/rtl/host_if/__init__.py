"""Queues in the tensor buffer to checked commands, answers to completion entries, and the registers."""
