"""A cart."""

from dataclasses import dataclass, field

from shop import notify, shipping


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

    def shipping(self, postcode):
        return shipping.cost(postcode) if self.lines else 0

    def confirmation(self, to):
        return notify.mail(to, "Your order", notify.order_xml(self.lines))
