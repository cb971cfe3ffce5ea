"""A cart."""
from dataclasses import dataclass, field


@dataclass
class Cart:
    lines: dict = field(default_factory=dict)

    def add(self, name, count=1):
        self.lines[name] = self.lines.get(name, 0) + count
        return self

    def remove(self, name):
        del self.lines[name]

    def count(self):
        return sum(self.lines.values())
