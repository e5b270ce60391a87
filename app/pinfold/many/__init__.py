"""Many sessions at once: found by folders and globs, worked on here, in processes or on a cluster.

`work.perform` is one pure function, from the bytes of a session to the bytes of a result; an engine
maps it over sessions, `run.run` keeps what comes of it in a `results.Results`.
"""
