"""Compaction: one pure step from a window to the next."""
