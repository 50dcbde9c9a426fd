"""Every view and lesson at four window sizes: nothing is cut or covered, and the main thing is on the first screen."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from analysis.learn.course import COURSE
from app.settings import AppSettings
from app.sources import find_sources
from tests.e2e.conftest import App, BrowserContext, Page, wait_until_idle

SIZES = ((1440, 900), (1280, 800), (1024, 768), (390, 844))
PHONE = 390
"""Narrower windows may scroll for the main thing, and scroll tables sideways."""
LIST = "[data-testid=stDataFrame]"
CHART = ".js-plotly-plot, figure"
ROWS_PX = 240
"""Heading and nearly six rows of a list."""


class View(NamedTuple):
    """An address, what it is opened for, and how much of that must be seen: all of it where None."""

    address: str
    main: str
    pixels: int | None = ROWS_PX


LESSONS = {
    f"lesson {entry.outline.key}{', answered' * bool(answers)}": View(
        f"/learn?lesson={entry.outline.key}&answers={'--' * number}{answers}", ".st-key-learn_main", pixels
    )
    for number, entry in enumerate(COURSE)
    for answers, pixels in (("", None), ("b", None))
}
VIEWS = {
    "overview": View("/overview?", CHART),
    "next": View("/next?user=407", LIST),
    "next, at a time": View("/next?user=407&at=2024-10-28T18:00", LIST),
    "everyone": View("/next?part=everyone", LIST),
    "try it": View("/next?part=try&stops=5.0,99.30", LIST),
    "walk": View("/walk?case=1", LIST),
    "explain": View("/explain?case=3", CHART),
    "explain, the model": View("/explain?case=3&half=model", CHART),
    "long tail": View("/long_tail?", CHART),
    "compare": View("/compare?", CHART),
    "cases": View("/cases?", "[data-testid=stImage]", None),
    "present": View("/present?case=3", CHART, None),
    "runs": View("/runs?", ".st-key-run_data", None),
    "open your data": View("/open_data?", "[data-testid=stFileUploader]", None),
    "teacher": View("/learn?page=teacher", "[data-testid=stTable]"),
} | LESSONS

STILL = """async () => {
  const pause = () => new Promise(done => setTimeout(done, 60));
  const look = () => [...document.querySelectorAll('h1, h2, .js-plotly-plot, .main-svg, canvas, figure, p')]
    .map(e => { const b = e.getBoundingClientRect(); return [b.x, b.y, b.width, b.height].join() }).join(';');
  let before = look(), same = 0;
  for (let turn = 0; turn < 60 && same < 3; turn++) {
    await pause();
    const now = look();
    same = now === before ? same + 1 : 0;
    before = now;
  }
}"""
FAULTS = """() => {
  const roots = [document.querySelector('[data-testid=stMain]')];
  for (const host of document.querySelectorAll('[data-testid=stBidiComponentIsolated]')) roots.push(host.shadowRoot);
  const texts = [], cut = [], covered = [], lines = [];
  const BAR = '[data-testid=stBottom]';
  const up = e => e.parentElement ?? e.getRootNode().host ?? null;
  const fits = (e, box) => {  // what clips a text: the first ancestor that hides what overflows it
    for (let at = e; at; at = up(at)) {
      const b = at.getBoundingClientRect(), look = getComputedStyle(at);
      if (at.dataset?.testid === 'stGrid' && innerWidth <= %PHONE%
          && at.scrollWidth > at.clientWidth) return null;
      if (at.tagName === 'svg' || !/visible/.test(look.overflowX)) {
        if (box.left < b.left - 2 || box.right > b.right + 2) return false;
        if (/hidden|clip/.test(look.overflowY) && (box.bottom < b.top + 3 || box.top > b.bottom - 3)) return null;
      }
      if (at.dataset?.testid === 'stMain') return box.left >= -1 && box.right <= innerWidth + 1;
    }
    return true;
  };
  for (const root of roots) {
    const nodes = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let node; (node = nodes.nextNode());) {
      const e = node.parentElement, said = node.textContent.trim();
      if (!said || !e || e.closest('style, script, canvas, [data-testid=stIconMaterial], .katex, .modebar')) continue;
      if (!e.checkVisibility({opacityProperty: true, visibilityProperty: true})) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      if (e.getBoundingClientRect().width < 3) continue;  // for screen readers
      const boxes = [...range.getClientRects()].filter(b => b.width > 2 && b.height > 2);
      for (const box of boxes) {
        const whole = fits(e, box);
        if (whole === null) continue;  // scrolled out of its list, or for screen readers only
        if (!whole) cut.push(said);
        texts.push({e, said, box, chart: e.closest('.js-plotly-plot, figure')});
      }
    }
    for (const e of root.querySelectorAll('.scatterlayer .js-line, .scatterlayer .point')) {
      const b = e.getBoundingClientRect(), look = getComputedStyle(e), chart = e.closest('.js-plotly-plot');
      if (look.opacity < 0.1 || (look.fillOpacity < 0.1 && look.strokeOpacity < 0.1)) continue;  // to be clicked only
      if (!texts.some(({box, chart: of}) => of === chart && box.left < b.right && b.left < box.right
          && box.top < b.bottom && b.top < box.bottom)) continue;
      const svg = e.getScreenCTM(), length = e.getTotalLength();
      const points = [];
      for (let at = 0; svg && at <= length; at += 3) {
        const p = e.getPointAtLength(at);
        points.push([svg.a * p.x + svg.c * p.y + svg.e, svg.b * p.x + svg.d * p.y + svg.f]);
      }
      lines.push({points, chart});
    }
  }
  for (let a = 0; a < texts.length; a++) for (let b = a + 1; b < texts.length; b++) {
    const [p, q] = [texts[a], texts[b]];
    if (!p.e.closest(BAR) !== !q.e.closest(BAR)) continue;  // the bar of Present is over what scrolls
    if (p.e === q.e || p.e.contains(q.e) || q.e.contains(p.e)) continue;
    const wide = Math.min(p.box.right, q.box.right) - Math.max(p.box.left, q.box.left);
    const high = Math.min(p.box.bottom, q.box.bottom) - Math.max(p.box.top, q.box.top);
    if (wide > 2 && high > 5) covered.push(`${p.said} | ${q.said}`);
  }
  for (const {e, said, box, chart} of texts) {
    const plate = e.closest('.annotation-text-g')?.querySelector('rect.bg');
    if (plate && parseFloat(getComputedStyle(plate).fillOpacity) > 0.5) continue;
    const inside = ([x, y]) => x > box.left + 1 && x < box.right - 1 && y > box.top + 5 && y < box.bottom - 5;
    for (const line of lines)
      if (line.chart === chart && line.points.some(inside)) { covered.push(`${said} | a mark`); break; }
  }
  for (const table of document.querySelectorAll('.dvn-scroller'))
    if (innerWidth > %PHONE% && table.scrollWidth > table.clientWidth + 1)
      cut.push(`a list's columns: ${table.scrollWidth} in ${table.clientWidth} pixels`);
  return {cut: [...new Set(cut)], covered: [...new Set(covered)],
          wide: Math.max(0, document.querySelector('[data-testid=stMain]').scrollWidth - innerWidth)};
}""".replace("%PHONE%", str(PHONE))
SEEN = """([selector, pixels]) => {
  const found = [...document.querySelectorAll(selector)];
  for (const host of document.querySelectorAll('[data-testid=stBidiComponentIsolated]'))
    found.push(...host.shadowRoot.querySelectorAll(selector));
  const box = found.find(e => e.getBoundingClientRect().height > 0)?.getBoundingClientRect();
  if (!box) return 'is not there';
  const least = Math.min(box.height, pixels ?? Infinity), seen = innerHeight - box.top;
  return seen >= least ? '' : `shows ${Math.round(seen)} of ${Math.round(least)} pixels`;
}"""


@pytest.fixture(scope="module")
def page(app: App, window: BrowserContext) -> Iterator[Page]:
    """One tab for all views."""
    opened = window.new_page()
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def tokens() -> dict[bool, str]:
    """The bundled city's models, by whether they read the time asked for."""
    found = [source for source in find_sources(AppSettings()) if source.label.startswith("Saltmere · RECAP")]
    return {source.reads_time: source.token for source in reversed(found)}


@pytest.mark.parametrize("name", VIEWS)
def test_nothing_is_cut_or_covered(page: Page, app: App, tokens: dict[bool, str], name: str) -> None:
    view = VIEWS[name]
    page.set_viewport_size({"width": 1440, "height": 900})
    page.goto(f"{app.url}{view.address}&source={tokens['&at=' in view.address]}".replace("?&", "?"))
    page.wait_for_selector("h1")
    wait_until_idle(page)
    faults: dict[str, Any] = {}
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        for _ in range(12):  # a page may be drawn again for its new width
            wait_until_idle(page)
            page.evaluate(STILL)
            found = {kind: what for kind, what in page.evaluate(FAULTS).items() if what}
            where = page.evaluate(SEEN, [view.main, view.pixels]) if width > PHONE else ""
            found |= {"main": where} if where else {}
            if not found:
                break
        else:
            faults[f"{width} x {height}"] = found
    assert faults == {}
