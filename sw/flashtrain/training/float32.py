"""The arithmetic moved to `flashtrain.numerics.float32`."""

from flashtrain.numerics.float32 import *  # noqa: F403
