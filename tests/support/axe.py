"""Check a page with axe against WCAG 2.2 A and AA, with every rule enabled, in both color schemes."""

from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Page
from tests.support.browser import expect

AXE_SCRIPT: Final = Path(__file__).parents[2] / "dashboard" / "node_modules" / "axe-core" / "axe.min.js"
_SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
_TAGS: Final = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
#: JavaScript that runs axe. By default axe turns some rules off, such as the rule for target sizes. Naming every
#: rule turns all rules on.
_RUN: Final = """
async (tags) => {
  const rules = Object.fromEntries(axe.getRules(tags).map(({ ruleId }) => [ruleId, { enabled: true }]));
  const { violations } = await axe.run(document, { runOnly: { type: "tag", values: tags }, rules });
  return violations.flatMap(({ id, help, nodes }) => nodes.map(({ html }) => `${id} (${help}): ${html.slice(0, 200)}`));
}
"""
#: JavaScript that returns whether all animations have ended. During a color transition, axe would measure wrong
#: contrasts.
_IS_STILL: Final = """
() => document.getAnimations().every((one) => {
  const { iterations, duration } = one.effect.getComputedTiming();
  return one.playState !== "running" || iterations === Infinity || duration === 0;
})
"""


def check_accessibility(page: Page) -> None:
    """Assert that axe finds no violation in the page, in the light and in the dark color scheme.

    The page must also be no higher than the window, because only parts of the page scroll.
    """
    assert page.evaluate("document.documentElement.scrollHeight - innerHeight") == 0
    page.evaluate(AXE_SCRIPT.read_text("utf-8"))
    violations = []
    for scheme in _SCHEMES:
        page.emulate_media(color_scheme=scheme)
        expect(page.locator("html")).to_have_attribute("data-mantine-color-scheme", scheme)
        page.wait_for_function(_IS_STILL)
        violations += [f"{scheme}: {violation}" for violation in page.evaluate(_RUN, _TAGS)]
    assert violations == [], "\n".join(violations)
