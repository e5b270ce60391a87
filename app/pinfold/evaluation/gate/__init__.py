"""Rules that a compaction must hold to: what sessions must keep, and whether they still do."""
