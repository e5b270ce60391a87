"""Requests to models: sent, retried, counted, and what they teach of the model's window."""
