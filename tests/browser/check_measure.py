"""Opens the page of `flakelab measure` in Debian's chromium and uses it as a person would.

usage: check_measure.py PAGE.html [--document MEASURE.json] [--screenshot FILE.png]

With the JSON document of the same campaign, the page must show what the document says. The screenshot shows the
page with the way down opened; one by night goes beside it, as FILE-dark.png. Exits with 1 and one line for each
thing that is wrong.
"""

import sys

import pages

SECTIONS = ["Overview", "Factors", "Layers", "Tests and elements", "Latent flakes", "Settings and environment"]
# Boxes and their medians that have a size, and texts that stick out of their plot.
PLOTS = """() => [...document.querySelectorAll('h3[id^=layer]')].map(heading => {
    let figure = heading;
    while (figure && figure.tagName != 'FIGURE') figure = figure.nextElementSibling;
    const plot = figure.querySelector('svg');
    const frame = plot.getBoundingClientRect();
    const size = shape => shape.getBoundingClientRect();
    return {
        layer: heading.textContent,
        name: plot.getAttribute('aria-label'),
        boxes: plot.querySelectorAll('g.box').length,
        drawn: [...plot.querySelectorAll('g.box rect, g.box .median')]
            .filter(shape => Math.max(size(shape).width, size(shape).height) > 1).length,
        beyond: [...plot.querySelectorAll('text')]
            .filter(text => size(text).left < frame.left - 1 || size(text).right > frame.right + 1)
            .map(text => text.textContent),
    };
})"""


class Check(pages.Check):
    def use(self, screenshot):
        self.headings("flakelab measure: ", SECTIONS)
        self.same_names()
        self.plots()
        self.widths("by day")
        self.filter()
        self.way_down()
        self.widths("opened")
        self.day_and_night(screenshot)
        self.narrow()

    def same_names(self):
        if self.document:
            layers = self.page.locator("h3[id^=layer]").all_inner_texts()
            self.expect(layers == self.document["layers"], "layers are %r" % layers)
            rows = self.page.locator("#overview ~ div").first.locator("tbody th").all_inner_texts()
            names = [configuration["name"] for configuration in self.document["configurations"]]
            self.expect(rows == names, "the overview has %r" % rows)

    def plots(self):
        """A plot for each layer, a box for each configuration, all of it drawn and within its frame."""
        plots = self.page.evaluate(PLOTS)
        self.need(plots, "there is no layer")
        for plot in plots:
            name = plot["layer"]
            self.expect(plot["name"], "the plot of %s has no name" % name)
            self.expect(plot["boxes"] > 0, "the plot of %s has no box" % name)
            self.expect(plot["drawn"] >= 2 * plot["boxes"], "%s: %d shapes are drawn" % (name, plot["drawn"]))
            self.expect(not plot["beyond"], "%s: labels that do not fit: %r" % (name, plot["beyond"]))
            if self.document:
                self.expect(plot["boxes"] == len(self.document["configurations"]), "%s: boxes are missing" % name)

    def way_down(self):
        """From a configuration to the values of an element, with the keyboard alone."""
        if self.page.locator("details.c").count() == 0:
            quiet = "Nothing varies in any configuration" in self.page.locator("body").inner_text()
            self.expect(quiet, "no configuration can be opened, and the page does not say that nothing varies")
            return
        element = self.page.locator("details.e").first
        self.need(element.count() == 1, "no element is listed")
        value = element.locator("td").first
        self.expect(not value.is_visible(), "values are visible before anything is opened")
        for level, name in [("c", "configuration"), ("l", "layer"), ("t", "test"), ("e", "element")]:
            xpath = "xpath=ancestor-or-self::details[contains(@class, '%s')]" % level
            details = element.locator(xpath)
            details.locator("> summary").focus()
            self.page.keyboard.press("Enter")
            self.expect(details.evaluate("node => node.open"), "Enter does not open the %s" % name)
        self.expect(value.is_visible(), "no value becomes visible")
        if self.document:
            self.same_values(element)

    def same_values(self, shown):
        name = shown.locator("> summary code").inner_text()
        test = shown.locator("xpath=ancestor::details[contains(@class, 't')]").locator("> summary code").inner_text()
        runs = [int(text.rstrip("×")) for text in shown.locator("td").all_inner_texts()]
        known = [
            [seen["runs"] for seen in element["values"]]
            for configuration in self.document["configurations"]
            for layer in configuration["layers"]
            for case in layer["tests"]
            if case["id"] == test
            for element in case.get("elements", [])
            if element["element"] == name
        ]
        self.expect(runs in known, "%s, %s: seen %r times, known are %r" % (test, name, runs, known))

    def filter(self):
        box = self.page.locator("#filter")
        if box.count() == 0:
            return
        self.need(box.is_visible(), "the filter did not start")
        box.fill("no test has this name")
        self.expect(self.page.locator("details.t:not([hidden])").count() == 0, "the filter hides nothing")
        box.fill("")
        self.expect(self.page.locator("details.t[hidden]").count() == 0, "an empty filter hides tests")


if __name__ == "__main__":
    sys.exit(pages.main(__doc__, Check))
