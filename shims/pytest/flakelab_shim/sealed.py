"""`os` as it was before the suite: tests replace its functions and do not always put them back.

What a test left replaced must show in the tests after it, not in what flakelab hears of them.
"""

import os as _os
import types

os = types.SimpleNamespace(**vars(_os))
