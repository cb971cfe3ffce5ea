"""Opens the page of `flakelab mutate` in Debian's chromium and uses it as a person would.

usage: check_mutate.py PAGE.html [--document MUTATE.json] [--screenshot FILE.png]

With the JSON document of the same campaign, the page must show what the document says. The screenshot shows the
page with a mutant opened; one by night goes beside it, as FILE-dark.png. Exits with 1 and one line for each
thing that is wrong.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Error, sync_playwright

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
# A page that takes longer does not answer.
TIMEOUT_MS = 30_000
# As wide as a telephone.
NARROW = 400
# Text and what is behind it, as the guidelines for accessible content ask.
CONTRAST = 4.5

DEAD_LINKS = """() => [...document.links].map(link => link.getAttribute('href'))
    .filter(target => !target.startsWith('#') || !document.getElementById(target.slice(1)))"""

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

# The least contrast between the text of any status and the page.
LEAST_CONTRAST = """() => {
    const light = colour => {
        const [r, g, b] = colour.match(/[0-9.]+/g).slice(0, 3).map(c => c / 255)
            .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = light(getComputedStyle(document.body).backgroundColor);
    const contrast = chip => {
        const text = light(getComputedStyle(chip).color);
        return (Math.max(text, behind) + 0.05) / (Math.min(text, behind) + 0.05);
    };
    return Math.min(...[...document.querySelectorAll('details.f > summary .chip')].map(contrast), 21);
}"""


class Wrong(Exception):
    """The page is not as it should be, and nothing further can be asked of it."""


def name(status):
    return status.replace(" ", "-")


class Check:
    def __init__(self, page, document, wrong):
        self.page = page
        self.document = document
        self.wrong = wrong

    def expect(self, holds, message):
        if not holds:
            self.wrong.append(message)

    def need(self, holds, message):
        if not holds:
            raise Wrong(message)

    def displayed(self, selector):
        return self.page.evaluate(DISPLAYED, selector)

    def headings(self):
        title = self.page.title()
        self.expect(title.startswith("flakelab mutate: "), "title is %r" % title)
        self.expect(self.page.locator("h1").count() == 1, "there is not one h1")
        found = self.page.locator("h2").all_inner_texts()
        self.expect(found == SECTIONS, "sections are %r" % found)
        for target in self.page.evaluate(DEAD_LINKS):
            self.expect(False, "link to %s leads nowhere" % target)

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

    def widths(self, when):
        sizes = self.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        self.expect(sizes[0] <= sizes[1], "%s: the page is %d wide, the window %d" % (when, *sizes))

    def contrast(self, when):
        least = self.page.evaluate(LEAST_CONTRAST)
        self.expect(least >= CONTRAST, "%s: a contrast of %.1f" % (when, least))

    def background(self):
        return self.page.evaluate("getComputedStyle(document.body).backgroundColor")


def check(arguments, play, wrong):
    chromium = shutil.which("chromium")
    if chromium is None:
        raise Wrong("chromium is not installed (apt-get install chromium)")
    browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
    page = browser.new_page(viewport={"width": 1100, "height": 900}, color_scheme="light")
    page.set_default_timeout(TIMEOUT_MS)
    document = json.loads(arguments.document.read_text("utf-8")) if arguments.document else None
    asked = Check(page, document, wrong)
    address = arguments.page.resolve().as_uri()
    page.on("console", lambda said: asked.wrong.append("console, %s: %s" % (said.type, said.text)))
    page.on("pageerror", lambda error: asked.wrong.append("script: %s" % error))
    page.on("request", lambda sent: asked.expect(sent.url == address, "the page asks for %s" % sent.url))
    page.goto(address)
    asked.headings()
    asked.numbers()
    asked.widths("by day")
    asked.contrast("by day")
    asked.filter()
    asked.drawer()
    asked.widths("opened")
    by_day = asked.background()
    if arguments.screenshot:
        page.screenshot(path=arguments.screenshot, full_page=True)
    page.emulate_media(color_scheme="dark")
    asked.expect(asked.background() != by_day, "the night looks like the day")
    asked.contrast("by night")
    if arguments.screenshot:
        dark = arguments.screenshot.with_name(arguments.screenshot.stem + "-dark.png")
        page.screenshot(path=dark, full_page=True)
    asked.links()
    page.set_viewport_size({"width": NARROW, "height": 800})
    asked.widths("on a narrow screen")
    browser.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("--document", type=Path, help="the JSON document of the same campaign")
    parser.add_argument("--screenshot", type=Path)
    arguments = parser.parse_args()
    wrong = []
    try:
        with sync_playwright() as play:
            check(arguments, play, wrong)
    except (Wrong, Error, OSError, ValueError) as error:
        wrong.append(str(error).strip())
    for line in wrong:
        print("%s: %s" % (arguments.page, line), file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
