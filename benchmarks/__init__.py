"""Benchmarks: each `bench_*.py` gives figures, and `python -m benchmarks` runs them all."""
