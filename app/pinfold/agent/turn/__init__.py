"""One turn and what leads to it: prompts, the queue, its ending, how a session is opened again."""
