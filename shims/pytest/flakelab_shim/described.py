"""What it takes to describe a failure, worked out once for all forks of a template.

pytest shows the source of a test that fails. For that `inspect` resolves the file of every module, and `tokenize`
compiles its expressions: that takes longer than most tests, and both keep what they found.
"""

import inspect
import tokenize


def prepare():
    """To be called when pytest is imported and nothing of plugins or projects is: their modules may do something when
    they are asked for their file."""
    try:
        # Nobody's code: every module is looked at.
        inspect.getmodule(compile("", "<flakelab>", "exec"))
    except Exception:
        # One that came with the environment does not like to be asked; whoever describes a failure will hear of it.
        pass
    list(tokenize.generate_tokens(iter(["x\n"]).__next__))
