"""Rows in a temporary file, for what is too large for memory."""

import pickle
import tempfile
from collections.abc import Iterator
from typing import Generic, TypeVar

T = TypeVar("T")


class RowFile(Generic[T]):
    """Rows that are appended one by one, and then read in pages."""

    def __init__(self, page_size: int) -> None:
        self._file = tempfile.TemporaryFile(prefix="rows-")  # noqa: SIM115 - close() closes it
        self._page_size = page_size
        self._page: list[T] = []
        self._pages = 0
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def append(self, row: T) -> None:
        self._page.append(row)
        self._count += 1
        if len(self._page) == self._page_size:
            self._write_page()

    def pages(self) -> Iterator[list[T]]:
        """All rows, in the order in which they were appended."""
        if self._page:
            self._write_page()
        self._file.seek(0)
        for _ in range(self._pages):
            yield pickle.load(self._file)  # noqa: S301 - a file without a name, which only this process can open

    def close(self) -> None:
        self._file.close()

    def _write_page(self) -> None:
        pickle.dump(self._page, self._file, pickle.HIGHEST_PROTOCOL)
        self._page = []
        self._pages += 1
