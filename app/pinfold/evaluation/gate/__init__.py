"""Rules for what sessions must keep through a compaction, and their checks."""
