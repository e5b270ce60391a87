"""The SQLite of the index: the package pysqlite3 (extra `sqlite`), else Python's own.

Since 3.42 it removes deleted words from the file row by row; Python's may be older.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
else:
    try:
        from pysqlite3 import dbapi2 as sqlite3
    except ImportError:
        import sqlite3

__all__ = ["SECURE", "sqlite3"]

SECURE = sqlite3.sqlite_version_info >= (3, 42)
"""Whether deleted words are removed from the file row by row."""
