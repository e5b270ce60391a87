"""The journal: an append-only log of events, and the sessions that keep one."""
