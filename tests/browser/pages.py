"""What the checks of all pages share: the browser, what is wrong so far, day and night, narrow screens."""

import argparse
import json
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Error, sync_playwright

# A page that takes longer does not answer.
TIMEOUT_MS = 30_000
# As wide as a telephone.
NARROW = 400
# Text and what is behind it, as the guidelines for accessible content ask.
CONTRAST = 4.5

DEAD_LINKS = """() => [...document.querySelectorAll('a[href]')].map(link => link.getAttribute('href'))
    .filter(target => !target.startsWith('#') || !document.getElementById(target.slice(1)))"""

# The least contrast between text and what is behind it, with the text; of a few of each kind of element.
LEAST_CONTRAST = """() => {
    const parts = colour => colour.match(/[0-9.]+/g).map(Number);
    const light = colour => {
        const [r, g, b] = parts(colour).slice(0, 3).map(c => c / 255)
            .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const behind = element => {
        for (let one = element; one; one = one.parentElement) {
            const colour = getComputedStyle(one).backgroundColor;
            if (colour.startsWith('rgb') && (parts(colour)[3] ?? 1) == 1) return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    const seen = {};
    let least = [21, ''];
    for (const element of document.body.querySelectorAll('*')) {
        const own = [...element.childNodes].some(node => node.nodeType == 3 && node.data.trim());
        const kind = element.tagName + ' ' + element.getAttribute('class') + ' ' + element.parentElement.className;
        if (!own || (seen[kind] = (seen[kind] || 0) + 1) > 3 || !element.getClientRects().length) continue;
        const style = getComputedStyle(element);
        const text = light(element instanceof SVGElement ? style.fill : style.color);
        const back = light(behind(element));
        const contrast = (Math.max(text, back) + 0.05) / (Math.min(text, back) + 0.05);
        if (contrast < least[0]) least = [contrast, kind + ': ' + element.textContent.slice(0, 40)];
    }
    return least;
}"""


class Wrong(Exception):
    """The page is not as it should be, and nothing further can be asked of it."""


class Check:
    """A page that is open, and the document it was made of, if that is given."""

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

    def headings(self, title, sections):
        found = self.page.title()
        self.expect(found.startswith(title), "title is %r" % found)
        self.expect(self.page.locator("h1").count() == 1, "there is not one h1")
        found = self.page.locator("h2").all_inner_texts()
        self.expect(found == sections, "sections are %r" % found)
        for target in self.page.evaluate(DEAD_LINKS):
            self.expect(False, "link to %s leads nowhere" % target)

    def widths(self, when):
        sizes = self.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        self.expect(sizes[0] <= sizes[1], "%s: the page is %d wide, the window %d" % (when, *sizes))

    def contrast(self, when):
        least, what = self.page.evaluate(LEAST_CONTRAST)
        self.expect(least >= CONTRAST, "%s: a contrast of %.1f, %s" % (when, least, what))

    def background(self):
        return self.page.evaluate("getComputedStyle(document.body).backgroundColor")

    def day_and_night(self, screenshot):
        """Leaves the page dark."""
        self.contrast("by day")
        by_day = self.background()
        if screenshot:
            self.page.screenshot(path=screenshot, full_page=True)
        self.page.emulate_media(color_scheme="dark")
        self.expect(self.background() != by_day, "the night looks like the day")
        self.contrast("by night")
        if screenshot:
            dark = screenshot.with_name(screenshot.stem + "-dark.png")
            self.page.screenshot(path=dark, full_page=True)

    def narrow(self):
        self.page.set_viewport_size({"width": NARROW, "height": 800})
        self.widths("on a narrow screen")


def _open(path, document, browser, kind, wrong):
    """(the page at a path, opened; the addresses it asked for, which grow)"""
    context = browser.new_context(viewport={"width": 1150, "height": 900}, color_scheme="light")
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    document = json.loads(document.read_text("utf-8")) if document else None
    page.on("console", lambda said: wrong.append("console, %s: %s" % (said.type, said.text)))
    page.on("pageerror", lambda error: wrong.append("script: %s" % error))
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    page.goto(path.resolve().as_uri())
    return kind(page, document, wrong), sent


def _use(path, document, screenshot, browser, kind):
    """What is wrong with a page."""
    wrong = []
    try:
        check, sent = _open(path, document, browser, kind, wrong)
        check.use(screenshot)
        address = path.resolve().as_uri()
        for url in sent:
            check.expect(url.split("#")[0] == address, "the page asks for %s" % url)
        check.page.context.close()
    except (Wrong, Error, OSError, ValueError) as error:
        wrong.append(str(error).strip())
    return wrong


def main(usage, kind):
    """Opens the pages that the command line names, and lets a `kind` of Check `use` each."""
    parser = argparse.ArgumentParser(description=usage.split("\n")[0])
    parser.add_argument("pages", type=Path, nargs="+", metavar="page")
    parser.add_argument("--document", type=Path, action="append", help="the JSON of a page, for each page")
    parser.add_argument("--screenshot", type=Path, help="of the only page")
    arguments = parser.parse_args()
    documents = arguments.document or [None] * len(arguments.pages)
    if len(documents) != len(arguments.pages) or (arguments.screenshot and len(documents) > 1):
        parser.error("one --document for each page, and one page for a --screenshot")
    chromium = shutil.which("chromium")
    if chromium is None:
        print("chromium is not installed (apt-get install chromium)", file=sys.stderr)
        return 1
    is_wrong = False
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for path, document in zip(arguments.pages, documents):
            for line in _use(path, document, arguments.screenshot, browser, kind):
                is_wrong = True
                print("%s: %s" % (path, line), file=sys.stderr)
        browser.close()
    return int(is_wrong)
