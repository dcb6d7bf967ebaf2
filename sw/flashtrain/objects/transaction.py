"""A transaction of fsspec: the files that were written in it appear together."""

from typing import Any

from fsspec.transaction import Transaction

from .files import ObjectWriter, commit_all
from .store import Store


class ObjectTransaction(Transaction):
    """Names all files in one change, or none.

    Files only: what else is done to the file system meanwhile is there at once.
    """

    files: list[ObjectWriter]
    fs: Any

    def start(self) -> None:
        self.files = []
        self.fs._intrans = True

    def complete(self, commit: bool = True) -> None:
        files, self.files = self.files, []
        store: Store = self.fs.store
        try:
            if commit:
                for file in files:
                    file.close()
                commit_all(store, [file for file in files if not file.discarded])
        except BaseException:
            commit = False
            raise
        finally:
            if not commit:
                for file in files:
                    file.discard()
            self.fs._intrans = False
            self.fs._transaction = None
