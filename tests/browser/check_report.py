"""Opens the page of `flakelab report` in Debian's chromium and uses it as a person would.

usage: check_report.py PAGE.html [--document DOCUMENTS.json] [--screenshot FILE.png]

With an object of the documents that the page was made of, by verb, the page must show what they say. The screenshot
shows the page by day; one by night goes beside it, as FILE-dark.png, and what is printed, as FILE.pdf. Exits with 1
and one line for each thing that is wrong.
"""

import sys

import pages

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
# Copies that are tried.
COPIES = 5

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


class Check(pages.Check):
    def use(self, screenshot):
        self.headings("flakelab: ", SECTIONS)
        self.structure()
        self.widths("by day")
        self.search()
        self.links()
        self.copies()
        self.graph()
        self.same()
        self.widths("opened")
        self.day_and_night(screenshot)
        self.narrow()
        self.on_paper(screenshot)
        self.without_script()

    def structure(self):
        for landmark in ("header", "main", "nav", "footer"):
            self.expect(self.page.locator(landmark).count() == 1, "there is not one %s" % landmark)
        levels = self.page.evaluate(LEVELS)
        self.expect(levels.count(1) == 1 and levels[0] == 1, "the first heading is not the only one of level 1")
        jumps = [pair for pair in zip(levels, levels[1:]) if pair[1] > pair[0] + 1]
        self.expect(not jumps, "headings leave out levels: %r" % jumps[:3])
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
        if not self.document:
            return
        text = self.page.locator("main").evaluate("node => node.textContent")
        shown = {
            card.get_attribute("id"): card.locator("h3").text_content() for card in self.page.locator(".test").all()
        }
        for test in self.document.get("detect", {}).get("tests", []):
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
        for one in self.document.get("explain", {}).get("explanations", []):
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
        for one in self.document.get("fix", {}).get("fixes", []):
            for patch in one["patches"]:
                self.expect(patch["diff"] in patches, "%s: its patch is missing" % one["test"])
        if "measure" in self.document:
            known = len(self.document["measure"]["layers"])
            plots = self.page.locator("section[aria-labelledby=measure] svg[aria-label*='entropy of tests']").count()
            self.expect(plots == known, "%d box plots, %d layers" % (plots, known))
        if "mutate" in self.document:
            for status in ("killed", "survived"):
                known = self.document["mutate"]["totals"][status]
                tile = self.page.locator("section[aria-labelledby=mutate] .tile.%s b" % status).inner_text()
                self.expect(tile == format(known, ","), "%s: %s instead of %d" % (status, tile, known))
        if "inject" in self.document:
            known = str(self.document["inject"]["totals"]["mutants"])
            row = self.page.locator("section[aria-labelledby=inject] tr", has_text="mutants").first.inner_text()
            self.expect(known in row, "injected mutants: %r instead of %s" % (row, known))

    def on_paper(self, screenshot):
        page = self.page
        page.emulate_media(media="print", color_scheme="light")
        self.expect(not page.locator("form").is_visible(), "the search is printed")
        card = page.locator("details.test").first
        if card.count():
            card.evaluate("node => node.open = false")
            # The content of what is closed has a size on paper.
            size = card.evaluate("node => node.lastElementChild.getBoundingClientRect().height")
            self.expect(size > 0, "a test that is closed is printed without its details")
        if screenshot:
            page.pdf(path=screenshot.with_suffix(".pdf"), format="A4")

    def without_script(self):
        """All of the content is there; only search and buttons are not."""
        page = self.page.context.browser.new_context(java_script_enabled=False).new_page()
        page.goto(self.page.url)
        self.expect(not page.locator("#search").is_visible(), "without script: a search that does nothing is shown")
        self.expect(not page.locator(".copy").count(), "without script: a button that does nothing is shown")
        for number, section in enumerate(SECTIONS):
            shown = page.locator("h2").nth(number).is_visible()
            self.expect(shown, "without script: %s is not shown" % section)
        page.context.close()


if __name__ == "__main__":
    sys.exit(pages.main(__doc__, Check))
