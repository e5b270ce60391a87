"""Many sessions at once: found by folders and globs, processed here, in processes or on a cluster.

`work.perform` is one pure function, from the bytes of a session to the bytes of a result; an engine
maps it over sessions, and `run.run` keeps the results in a `results.Results`.
"""
