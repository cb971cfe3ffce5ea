"""What a run writes down about the insides of its tests: asserted values, code that ran, samples of behaviour.

Loaded only by runs that were asked for it. Nothing here calls code of the suite, and whatever goes wrong
here ends in a note, never in a test.
"""

from .layers import Layers

__all__ = ["Layers"]
