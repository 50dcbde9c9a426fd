() => {
  // Texts that are cut off or covered, and how much wider than the window the page is.
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
}
