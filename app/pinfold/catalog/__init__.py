"""What is in all sessions: an index in the cache, to list and to search them."""
