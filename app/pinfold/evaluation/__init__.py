"""Trials of compaction strategies on conversations whose truth is known, and their scores."""
