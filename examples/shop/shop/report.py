"""Reports over orders."""

import csv
import io
import statistics


def customers(orders):
    return {order["customer"] for order in orders}


def to_csv(orders):
    out = io.StringIO()
    writer = csv.DictWriter(out, ["customer", "amount"])
    writer.writeheader()
    writer.writerows(orders)
    return out.getvalue()


def mean(orders):
    return statistics.mean(order["amount"] for order in orders)
