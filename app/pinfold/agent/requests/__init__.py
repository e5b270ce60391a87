"""Requests to models: sent, retried, counted; what refused ones teach of the model's window."""
