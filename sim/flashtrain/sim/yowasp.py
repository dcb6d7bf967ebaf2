"""The environment of YoWASP's tools, which are WebAssembly: nextpnr, and the solver of proofs."""

import os

from flashtrain.native.user_cache import user_cache


def yowasp_environment() -> dict[str, str]:
    """The process's environment, with a folder in the user's cache for the machine code of the tools.

    They run what they find there. By themselves they would take any user's `~/.cache`, and end without one.
    """
    # The tools have a folder in it for each version of each of them.
    folder = user_cache().build("yowasp", "tools", "any", "machine code of YoWASP", lambda folder: None)
    return {**os.environ, "YOWASP_CACHE_DIR": str(folder)}
