"""Opens the page of `flakelab mutate` in Debian's chromium and uses it as a person would.

usage: check_mutate.py PAGE.html [--document MUTATE.json] [--screenshot FILE.png]

With the JSON document of the same campaign, the page must show what the document says. The screenshot shows the
page with a mutant opened; one by night goes beside it, as FILE-dark.png. Exits with 1 and one line for each
thing that is wrong.
"""

import sys

import pages

SECTIONS = [
    "Files",
    "Survivors",
    "Unknown",
    "Sources",
    "Coverage that differs from run to run",
    "Reruns of what was not hit",
    "Campaign",
]
STATUSES = ["killed", "survived", "unknown", "timeout", "error", "not covered"]

# Opens the first file that has a line with such a mutant, and all its lines; closes what was closed before.
OPEN = """status => {
    const chip = document.querySelector('details.r .chip.' + status);
    const file = chip && chip.closest('details.f');
    window.opened = file ? [file, ...file.querySelectorAll('details.r')].filter(one => !one.open) : [];
    window.opened.forEach(one => one.open = true);
    window.asked = file;
}"""
CLOSE = "() => window.opened.forEach(one => one.open = false)"

# How many are displayed on the lines of that file, or in a list.
DISPLAYED = """selector => [
        ...window.asked.querySelectorAll(selector), ...document.querySelectorAll('.mutants > ' + selector)
    ]
    .filter(element => getComputedStyle(element).display != 'none').length"""


def name(status):
    return status.replace(" ", "-")


class Check(pages.Check):
    def use(self, screenshot):
        self.headings("flakelab mutate: ", SECTIONS)
        self.numbers()
        self.widths("by day")
        self.filter()
        self.drawer()
        self.widths("opened")
        self.day_and_night(screenshot)
        self.links()
        self.narrow()

    def displayed(self, selector):
        return self.page.evaluate(DISPLAYED, selector)

    def numbers(self):
        """Every mutant of the document is there, or the page says that there was no room."""
        if not self.document:
            return
        mutants = self.document["mutants"]
        files = {mutant["file"] for mutant in mutants}
        self.expect(self.page.locator("details.f").count() == len(files), "files are missing")
        cut = self.page.locator("details.f > p", has_text="There was no room for").count() > 0
        for status in STATUSES:
            known = sum(mutant["status"] == status for mutant in mutants)
            tile = self.page.locator(".tile.%s b" % name(status)).inner_text()
            self.expect(tile == format(known, ","), "%s: the page says %s, the document %d" % (status, tile, known))
            shown = self.page.locator("article.%s" % name(status)).count()
            self.expect(shown == known or cut and shown < known, "%s: %d of %d are shown" % (status, shown, known))

    def filter(self):
        """A status that is not wanted is neither on lines nor in lists; wanted again, it is back."""
        for status in STATUSES:
            box = self.page.locator("#show-%s" % name(status))
            if box.count() == 0:
                continue
            self.page.evaluate(OPEN, name(status))
            self.need(self.page.evaluate("window.asked != null"), "%s: no line has one" % status)
            kinds = [kind + "." + name(status) for kind in (".chip", "article", "li")]
            others = [kind + ":not(.%s)" % name(status) for kind in (".chip", "article", "li")]
            before = [self.displayed(kind) for kind in kinds]
            rest = [self.displayed(kind) for kind in others]
            box.focus()
            self.page.keyboard.press("Space")
            for kind in kinds:
                self.expect(self.displayed(kind) == 0, "%s is there although it is not wanted" % kind)
            self.expect(rest == [self.displayed(kind) for kind in others], "%s takes others along" % status)
            self.page.keyboard.press("Space")
            self.expect(before == [self.displayed(kind) for kind in kinds], "%s does not come back" % status)
            self.page.evaluate(CLOSE)

    def drawer(self):
        """A line is opened with the keyboard alone, and shows its diffs and who killed the mutant."""
        if self.page.locator("article").count() == 0:
            return
        survivors = self.page.locator("article.survived")
        article = (survivors if survivors.count() else self.page.locator("article")).first
        file = article.locator("xpath=ancestor::details[contains(@class, 'f')]")
        if not file.evaluate("node => node.open"):
            file.locator("> summary").focus()
            self.page.keyboard.press("Enter")
            self.expect(file.evaluate("node => node.open"), "Enter does not open the file")
        line = article.locator("xpath=ancestor::details[contains(@class, 'r')]")
        diff = article.locator("pre.d")
        self.expect(not diff.is_visible(), "a diff is visible before its line is opened")
        line.locator("> summary").focus()
        self.page.keyboard.press("Enter")
        self.expect(line.evaluate("node => node.open"), "Enter does not open the line")
        self.expect(diff.is_visible(), "no diff becomes visible")
        if self.document:
            self.same(article)

    def same(self, article):
        mutant = self.document["mutants"][int(article.get_attribute("id")[1:])]
        self.expect(mutant["status"] == article.locator(".chip").first.inner_text(), "another status")
        shown = article.locator("pre.d").inner_text().splitlines()
        if shown and shown[-1].startswith("… and "):
            shown.pop()
        known = mutant["diff"].splitlines()[2:]
        same = [a == b for a, b in zip(shown, known) if b.isprintable() and len(b) < 300]
        self.expect(same and all(same), "the diff is %r, known is %r" % (shown[:5], known[:5]))
        if len(mutant["killed_by"]) == 1 and mutant["killed_by"][0].isprintable():
            self.expect(mutant["killed_by"][0] in article.inner_text(), "the test that killed it is not named")

    def links(self):
        """The list of survivors leads to the opened mutant."""
        link = self.page.locator("#survivors ~ ol.mutants > li > a").first
        if link.count() == 0:
            return
        article = self.page.locator(link.get_attribute("href"))
        self.page.evaluate("() => document.querySelectorAll('details').forEach(one => one.open = false)")
        link.focus()
        self.page.keyboard.press("Enter")
        article.wait_for(state="visible")
        self.expect(article.locator("pre.d").is_visible(), "the mutant is not opened by its link")


if __name__ == "__main__":
    sys.exit(pages.main(__doc__, Check))
