"""The store of the dies' arrays, compiled by itself."""

import ctypes
import subprocess
from pathlib import Path

from flashtrain.sim.nand import QUIET_HOST, VERILATOR_SOURCES

WORD_BYTES, PAGE_WORDS = 32, 17
PAGE_BYTES = WORD_BYTES * PAGE_WORDS
SENSE, PROGRAM, ERASE, SUSPENDED_READ = range(4)
HANGS = 2


def compile_store(folder: Path) -> ctypes.CDLL:
    path = folder / "store.so"
    (source,) = (path for path in VERILATOR_SOURCES if path.name == "array_store.cpp")
    subprocess.run(
        ["c++", "-std=c++17", "-shared", "-fPIC", "-O2", "-o", path, source, QUIET_HOST], check=True
    )
    library = ctypes.CDLL(str(path))
    library.flashtrain_array_open.restype = ctypes.c_void_p
    for name in ("bytes", "flipped", "flips", "cuts"):
        getattr(library, f"flashtrain_array_{name}").restype = ctypes.c_uint64
    library.flashtrain_array_pass_time.argtypes = [ctypes.c_double]
    return library


class StoredDie:
    """A die's array, as its model uses the store."""

    def __init__(self, library: ctypes.CDLL, channel: int, die: int, page_words: int = PAGE_WORDS):
        self.library = library
        self.level = 0  # that its pins have asked for
        self.channel, self.die, self.page_words = channel, die, page_words
        self.store = ctypes.c_void_p(library.flashtrain_array_open(channel, die, 2, page_words, WORD_BYTES))

    def fails(self, op: int, plane: int, block: int, page: int = 0) -> int:
        return self.library.flashtrain_array_fails(self.channel, self.die, op, plane, block, page)

    def write(self, plane: int, block: int, page: int, words: dict[int, bytes]) -> int:
        """A program; whether it fails, or :data:`HANGS`."""
        self.library.flashtrain_array_new_page(self.store, plane, block, page)
        failed = self.fails(PROGRAM, plane, block, page)
        for word, content in words.items():
            self.library.flashtrain_array_write(self.store, plane, word, content)
        return failed

    def write_page(self, plane: int, block: int, page: int, content: bytes) -> int:
        words = {at // WORD_BYTES: content[at : at + WORD_BYTES] for at in range(0, len(content), WORD_BYTES)}
        return self.write(plane, block, page, words)

    def read(self, plane: int, block: int, page: int, word: int) -> bytes:
        self.library.flashtrain_array_open_page(self.store, plane, block, page, self.level)
        return self._word(plane, word)

    def read_page(self, plane: int, block: int, page: int) -> bytes:
        self.library.flashtrain_array_open_page(self.store, plane, block, page, self.level)
        return b"".join(self._word(plane, word) for word in range(self.page_words))

    def held(self, plane: int, block: int, page: int) -> bytes:
        """What the cells hold."""
        content = ctypes.create_string_buffer(self.page_words * WORD_BYTES)
        assert self.library.flashtrain_array_page(self.channel, self.die, plane, block, page, content)
        return content.raw

    def erase(self, plane: int, block: int) -> int:
        """Whether it fails, or :data:`HANGS`, and then does nothing."""
        failed = self.fails(ERASE, plane, block)
        if failed == HANGS:
            return failed
        self.library.flashtrain_array_erase(self.store, plane, block)
        return failed

    def cut(self, op: int, plane: int, block: int, page: int, passed: int, takes: int) -> None:
        """The program or erase that was begun is cut short."""
        self.library.flashtrain_array_cut(self.store, op == ERASE, plane, block, page, passed, takes)

    def _word(self, plane: int, word: int) -> bytes:
        content = ctypes.create_string_buffer(WORD_BYTES)
        self.library.flashtrain_array_read(self.store, plane, word, content)
        return content.raw
