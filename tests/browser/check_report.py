"""Opens the page of `flakelab report` in Debian's chromium and uses it as a person would.

usage: check_report.py PAGE.html [--store DOCUMENTS.json] [--screenshot FILE.png]

With an object of the documents that the page was made of, by verb, the page must show what they say. The screenshot
shows the page by day; one by night goes beside it, as FILE-dark.png, and what is printed, as FILE.pdf. Exits with 1
and one line for each thing that is wrong.
"""

import argparse
import json
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Error, sync_playwright

SECTIONS = [
    "Overview",
    "What to fix first",
    "Flaky tests",
    "Who pollutes whom",
    "Patches",
    "What varies",
    "Filter",
    "Mutants",
    "Injected order-dependency",
    "History",
]
# A page that takes longer does not answer.
TIMEOUT_MS = 30_000
# As wide as a telephone.
NARROW = 400
# Text and what is behind it, as the guidelines for accessible content ask.
CONTRAST = 4.5
# Copies that are tried.
COPIES = 5

DEAD_LINKS = """() => [...document.querySelectorAll('a[href]')].map(link => link.getAttribute('href'))
    .filter(target => !target.startsWith('#') || !document.getElementById(target.slice(1)))"""

# Things without a name, or that only a mouse can reach; tables whose headers are not told from their cells.
NAMELESS = """() => [
    ...[...document.querySelectorAll('input, button')]
        .filter(one => !one.labels?.length && !one.ariaLabel && !one.textContent),
    ...[...document.querySelectorAll('svg')].filter(one => !one.getAttribute('aria-label')),
    ...[...document.querySelectorAll('section')]
        .filter(one => !document.getElementById(one.getAttribute('aria-labelledby'))?.textContent),
    ...[...document.querySelectorAll('section table th:not([scope])')].filter(one => !one.closest('details.e')),
    ...[...document.querySelectorAll('[role=region]')].filter(one => one.tabIndex != 0 || !one.ariaLabel),
].map(one => one.outerHTML.slice(0, 120))"""

LEVELS = "() => [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')].map(one => Number(one.tagName[1]))"

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
    for (const element of document.querySelectorAll('main *, header *')) {
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

# Names of boxes that stick out of their box, and boxes that lie on each other.
GRAPH = """() => {
    const boxes = [...document.querySelectorAll('.graph .node')]
        .map(node => [node, node.querySelector('rect').getBoundingClientRect()]);
    const beside = (a, b) => a.left > b.right - 1 || a.top > b.bottom - 1;
    const apart = (a, b) => beside(a, b) || beside(b, a);
    const wrong = [];
    for (const [node, box] of boxes) {
        for (const text of node.querySelectorAll('text'))
            if (text.getBoundingClientRect().right > box.right + 1) wrong.push('sticks out: ' + text.textContent);
        for (const [other, its] of boxes)
            if (other != node && !apart(box, its)) wrong.push('lies on another: ' + node.textContent);
    }
    return wrong;
}"""

OUTLINE = "() => getComputedStyle(document.activeElement).outlineStyle"


class Wrong(Exception):
    """The page is not as it should be, and nothing further can be asked of it."""


class Check:
    def __init__(self, page, documents, wrong):
        self.page = page
        self.documents = documents
        self.wrong = wrong

    def expect(self, holds, message):
        if not holds:
            self.wrong.append(message)

    def need(self, holds, message):
        if not holds:
            raise Wrong(message)

    def structure(self):
        title = self.page.title()
        self.expect(title.startswith("flakelab: "), "title is %r" % title)
        found = self.page.locator("h2").all_inner_texts()
        self.expect(found == SECTIONS, "sections are %r" % found)
        for landmark in ("header", "main", "nav", "footer"):
            self.expect(self.page.locator(landmark).count() == 1, "there is not one %s" % landmark)
        levels = self.page.evaluate(LEVELS)
        self.expect(levels.count(1) == 1 and levels[0] == 1, "the first heading is not the only one of level 1")
        jumps = [pair for pair in zip(levels, levels[1:]) if pair[1] > pair[0] + 1]
        self.expect(not jumps, "headings leave out levels: %r" % jumps[:3])
        for target in self.page.evaluate(DEAD_LINKS):
            self.expect(False, "link to %s leads nowhere" % target)
        for what in self.page.evaluate(NAMELESS):
            self.expect(False, "without a name: %s" % what)

    def visible(self):
        """How many things that can be searched are displayed."""
        return self.page.locator(".t:not([hidden]), .s:not([hidden]), .mutants > li:not([hidden])").count()

    def search(self):
        """With the keyboard alone: `/`, a name, arrows, Enter, Escape."""
        cards = self.page.locator("details.test")
        if cards.count() < 2:
            return
        before = self.visible()
        name = cards.nth(1).locator("h3").inner_text()
        self.page.keyboard.press("/")
        self.expect(self.page.evaluate("document.activeElement.id") == "search", "/ does not lead to the search")
        self.expect(self.page.evaluate(OUTLINE) != "none", "one does not see that the search has the focus")
        self.page.keyboard.insert_text(name[-60:].upper())
        self.expect(cards.nth(1).is_visible(), "the test that is searched for is not there")
        self.expect(0 < self.visible() < before, "%d of %d fit the name of one test" % (self.visible(), before))
        said = self.page.locator("#said").inner_text()
        self.expect(said.startswith("%d of " % self.visible()), "the search says %r" % said)
        self.page.keyboard.press("ArrowDown")
        self.expect(self.page.evaluate("document.activeElement.id") != "search", "the arrow leads nowhere")
        self.page.keyboard.press("ArrowUp")
        self.expect(self.page.evaluate("document.activeElement.id") == "search", "the arrow does not lead back")
        self.page.keyboard.press("Escape")
        self.expect(self.visible() == before, "Escape does not bring all back")
        self.page.keyboard.insert_text("no test is called like this")
        self.expect(self.visible() == 0, "what fits nothing shows something")
        self.page.keyboard.press("Escape")
        self.page.locator("#search").fill(name)
        self.page.locator("details.test").evaluate_all("all => all.forEach(one => one.open = false)")
        self.page.keyboard.press("Enter")
        opened = self.page.locator("details[open].test, :focus")
        self.expect(opened.count() > 0, "Enter opens nothing")
        self.page.keyboard.press("Escape")

    def links(self):
        """A link to a test opens it."""
        link = self.page.locator("main a[href^='#t']:visible").first
        if link.count() == 0:
            return
        card = self.page.locator(link.get_attribute("href"))
        if card.evaluate("node => node.tagName") != "DETAILS":
            return
        card.evaluate("node => node.open = false")
        link.focus()
        self.page.keyboard.press("Enter")
        self.page.wait_for_function("name => document.querySelector(name).open", arg=link.get_attribute("href"))

    def copies(self):
        """What is copied is what stands there."""
        self.page.locator("details.test").evaluate_all("all => all.slice(0, 3).forEach(one => one.open = true)")
        self.expect(
            self.page.locator(".copy").count() == self.page.locator(".cmd, .patch").count(),
            "not every command and patch has its button",
        )
        for kind in (".cmd", ".patch"):
            buttons = self.page.locator("%s:visible + .copy" % kind)
            for at in range(min(COPIES, buttons.count())):
                button = buttons.nth(at)
                wanted = button.evaluate("node => node.previousElementSibling.textContent")
                button.focus()
                self.page.keyboard.press("Enter")
                self.page.wait_for_function("node => node.textContent == 'copied'", arg=button.element_handle())
                copied = self.page.evaluate("navigator.clipboard.readText()")
                self.expect(copied == wanted, "copied %r instead of %r" % (copied[:80], wanted[:80]))

    def graph(self):
        for what in self.page.evaluate(GRAPH)[:5]:
            self.expect(False, "in the graph, %s" % what)

    def same(self):
        """The documents' claims are on the page."""
        if not self.documents:
            return
        text = self.page.locator("main").evaluate("node => node.textContent")
        shown = {
            card.get_attribute("id"): card.locator("h3").text_content() for card in self.page.locator(".test").all()
        }
        for test in self.documents.get("detect", {}).get("tests", []):
            if test["class"] in ("stable", "not_run"):
                self.expect(test["id"] not in shown.values(), "%s is stable, and has a card" % test["id"])
                continue
            names = [name for name, known in shown.items() if known == test["id"]]
            self.need(len(names) == 1, "%s has %d cards" % (test["id"], len(names)))
            card = self.page.locator("#" + names[0]).text_content()
            self.expect(test["class"].replace("_", "-") in card, "%s: another class" % test["id"])
            rate = test["failure_rate"]
            if test["class"] == "victim":
                said = "in %d of %d random orders" % (rate["failed"], rate["of"])
                self.expect(said in card, "%s: %r is missing" % (test["id"], said))
            if "reproduce" in test:
                self.expect(test["reproduce"]["command"] in text, "%s: no command" % test["id"])
        for one in self.documents.get("explain", {}).get("explanations", []):
            names = [name for name, known in shown.items() if known == one["test"]]
            self.need(len(names) == 1, "%s is explained, and has no card" % one["test"])
            card = self.page.locator("#" + names[0]).text_content()
            for culprit in [test for group in one["polluters"] + one["state_setters"] for test in group]:
                self.expect(culprit in card, "%s: %s is missing" % (one["test"], culprit))
            for leak in one["leaks"]:
                parts = [leak["name"], leak["before"], leak["after"], leak["where"] or "not found"]
                missing = [part for part in parts if part not in card]
                self.expect(not missing, "%s: of the leak, %r is missing" % (one["test"], missing))
        patches = self.page.locator(".patch").evaluate_all("all => all.map(one => one.textContent)")
        for one in self.documents.get("fix", {}).get("fixes", []):
            for patch in one["patches"]:
                self.expect(patch["diff"] in patches, "%s: its patch is missing" % one["test"])
        if "measure" in self.documents:
            known = len(self.documents["measure"]["layers"])
            plots = self.page.locator("section[aria-labelledby=measure] svg[aria-label*='entropy of tests']").count()
            self.expect(plots == known, "%d box plots, %d layers" % (plots, known))
        if "mutate" in self.documents:
            for status in ("killed", "survived"):
                known = self.documents["mutate"]["totals"][status]
                tile = self.page.locator("section[aria-labelledby=mutate] .tile.%s b" % status).inner_text()
                self.expect(tile == format(known, ","), "%s: %s instead of %d" % (status, tile, known))
        if "inject" in self.documents:
            known = str(self.documents["inject"]["totals"]["mutants"])
            row = self.page.locator("section[aria-labelledby=inject] tr", has_text="mutants").first.inner_text()
            self.expect(known in row, "injected mutants: %r instead of %s" % (row, known))

    def widths(self, when):
        sizes = self.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.clientWidth]")
        self.expect(sizes[0] <= sizes[1], "%s: the page is %d wide, the window %d" % (when, *sizes))

    def contrast(self, when):
        least, what = self.page.evaluate(LEAST_CONTRAST)
        self.expect(least >= CONTRAST, "%s: a contrast of %.1f, %s" % (when, least, what))

    def background(self):
        return self.page.evaluate("getComputedStyle(document.body).backgroundColor")


def without_script(browser, address, wrong):
    """All of the content is there; only search and buttons are not."""
    page = browser.new_context(java_script_enabled=False).new_page()
    page.goto(address)
    if page.locator("#search").is_visible():
        wrong.append("without script: a search that does nothing is shown")
    if page.locator(".copy").count():
        wrong.append("without script: a button that does nothing is shown")
    for number in range(len(SECTIONS)):
        if not page.locator("h2").nth(number).is_visible():
            wrong.append("without script: %s is not shown" % SECTIONS[number])
    page.context.close()


def on_paper(page, asked):
    page.emulate_media(media="print", color_scheme="light")
    asked.expect(not page.locator("form").is_visible(), "the search is printed")
    card = page.locator("details.test").first
    if card.count():
        card.evaluate("node => node.open = false")
        # The content of what is closed has a size on paper.
        size = card.evaluate("node => node.lastElementChild.getBoundingClientRect().height")
        asked.expect(size > 0, "a test that is closed is printed without its details")


def check(arguments, play, wrong):
    chromium = shutil.which("chromium")
    if chromium is None:
        raise Wrong("chromium is not installed (apt-get install chromium)")
    browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
    context = browser.new_context(viewport={"width": 1150, "height": 900}, color_scheme="light")
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.set_default_timeout(TIMEOUT_MS)
    documents = json.loads(arguments.store.read_text("utf-8")) if arguments.store else None
    asked = Check(page, documents, wrong)
    address = arguments.page.resolve().as_uri()
    page.on("console", lambda said: asked.wrong.append("console, %s: %s" % (said.type, said.text)))
    page.on("pageerror", lambda error: asked.wrong.append("script: %s" % error))
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    page.goto(address)
    asked.structure()
    asked.widths("by day")
    asked.search()
    asked.links()
    asked.copies()
    asked.graph()
    asked.same()
    asked.contrast("by day")
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
    page.set_viewport_size({"width": NARROW, "height": 800})
    asked.widths("on a narrow screen")
    on_paper(page, asked)
    if arguments.screenshot:
        page.pdf(path=arguments.screenshot.with_suffix(".pdf"), format="A4")
    for url in sent:
        asked.expect(url.split("#")[0] == address, "the page asks for %s" % url)
    without_script(browser, address, wrong)
    browser.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("page", type=Path)
    parser.add_argument("--store", type=Path, help="the JSON documents the page was made of, by verb")
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
