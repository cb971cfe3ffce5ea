"""Runs the interpreter's own tests of a module, as it is or with its points, and prints what each of them said.

With `points`, files are read from JSON on standard input; they take the place of the module however it is imported.
"""

import builtins
import doctest
import importlib
import importlib.abc
import importlib.machinery
import json
import sys
import unittest
import warnings

warnings.simplefilter("ignore")

hits = {}


def hit(point, times):
    hits[point] = hits.get(point, 0) + times


class Loader(importlib.machinery.SourceFileLoader):
    texts = {}

    def get_code(self, fullname):
        text = self.texts[self.path]
        return compile(text, self.path, "exec", dont_inherit=True)


class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.origin in Loader.texts:
            spec.loader = Loader(name, spec.origin)
            return spec
        return None


class Result(unittest.TestResult):
    def __init__(self):
        super().__init__()
        self.said = {}

    def startTest(self, test):
        super().startTest(test)
        self.said[str(test)] = "passed"

    def _keep(self, test, word, error):
        self.said[str(test)] = word + " " + error[0].__name__

    def addError(self, test, err):
        self._keep(test, "error", err)

    def addFailure(self, test, err):
        self._keep(test, "failed", err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self._keep(test, "sub", err)

    def addSkip(self, test, reason):
        self.said[str(test)] = "skipped"


def main():
    name, how = sys.argv[1:3]
    if how == "points":
        builtins.__flakelab_hit__ = hit
        for line in sys.stdin:
            file = json.loads(line)
            Loader.texts[file["path"]] = file["instrumented"]
        sys.meta_path.insert(0, Finder())
        for known in list(sys.modules):
            if getattr(sys.modules[known], "__file__", None) in Loader.texts:
                del sys.modules[known]
    module = importlib.import_module(name)
    suite = unittest.TestSuite()
    suite.addTests(doctest.DocTestSuite(module, test_finder=doctest.DocTestFinder(exclude_empty=True)))
    try:
        tests = importlib.import_module("test.test_" + name.lstrip("_").replace("pydecimal", "decimal"))
    except ImportError:
        tests = None  # Debian has the tests of the standard library in a package of their own.
    if tests is not None:
        suite.addTests(unittest.defaultTestLoader.loadTestsFromModule(tests))
    result = Result()
    suite.run(result)
    print(json.dumps({"said": result.said, "hits": len(hits)}, sort_keys=True))


main()
