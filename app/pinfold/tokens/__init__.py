"""Counting tokens and knowing models' windows."""
