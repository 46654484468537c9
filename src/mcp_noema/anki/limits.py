"""The sizes up to which a package is read, and therefore written."""

from dataclasses import dataclass

MEBIBYTE = 1 << 20


@dataclass(frozen=True, slots=True)
class ReadLimits:
    """How much is read from a file at most, whatever sizes it claims."""

    entries: int = 200_000
    directory_bytes: int = 32 * MEBIBYTE
    media_bytes: int = 32 * MEBIBYTE
    collection_bytes: int = 512 * MEBIBYTE
    rows: int = 1_000_000
    """In each table except the review log."""
    reviews: int = 5_000_000

    def rows_of(self, table: str) -> int:
        return self.reviews if table == "revlog" else self.rows
