"""What a test leaves behind in its process: found, named, and put back.

Owns the reading of a process before and after a test and the restoring of single differences. Refuses to
know which test is at fault or whether a difference matters: the caller runs the target again to find out.
"""
