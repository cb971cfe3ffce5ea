"""The Python side of flakelab: runs the user's own pytest and reports over a private descriptor.

Owns everything that must happen inside the user's interpreter. Refuses to know why a run was asked
for: it executes orders and tells what happened. Standard library and pytest only; Python 3.8 to 3.14,
pytest 7 to 9. Nothing here prints, and nothing writes outside the scratch area it was given.
"""
