() => {
  // Texts that are cut off, covered or too faint, and how much wider than the window the page is.
  const POPOVER = '[data-testid=stPopoverBody]';
  const roots = [document.querySelector('[data-testid=stMain]'), ...document.querySelectorAll(POPOVER)];
  for (const host of document.querySelectorAll('[data-testid=stBidiComponentIsolated]')) roots.push(host.shadowRoot);
  const texts = [], cut = [], covered = [], lines = [], faint = [];
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
    return box.left >= -1 && box.right <= innerWidth + 1;
  };
  const paper = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = (...colours) => {  // one over the other
    paper.clearRect(0, 0, 1, 1);
    for (const colour of colours) {
      paper.fillStyle = colour;
      paper.fillRect(0, 0, 1, 1);
    }
    return paper.getImageData(0, 0, 1, 1).data;
  };
  const light = ([...rgb]) => rgb.slice(0, 3).map(v => v / 255).map(v => v > 0.04045 ? ((v + 0.055) / 1.055) ** 2.4 : v / 12.92)
    .reduce((sum, v, at) => sum + v * [0.2126, 0.7152, 0.0722][at], 0);
  const contrast = e => {  // of a text with the first ground under it
    const grounds = [];
    for (let at = e; at && !(grounds.length && rgba(grounds[0])[3] > 250); at = up(at))
      grounds.unshift(getComputedStyle(at).backgroundColor);
    const look = getComputedStyle(e), ink = e.closest('svg') ? look.fill : look.color;
    const [a, b] = [light(rgba(...grounds, ink)), light(rgba(...grounds))];
    return a === b ? Infinity : (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);  // else not to be seen
  };
  for (const canvas of document.querySelectorAll('[data-testid=data-grid-canvas]')) {  // cells, as the grid knows them
    const grid = canvas[Object.keys(canvas).find(key => key.startsWith('__reactFiber'))].return.memoizedProps;
    const {columns, rows, getCellContent, theme, rowHeight} = grid;
    columns.forEach(({title, width}, at) => {
      const cells = [...Array(Math.min(rows, 12)).keys()].map(row => getCellContent([at, row]))
        .filter(({kind}) => kind === 'text' || kind === 'number');
      for (const {displayData: said, allowWrapping} of [{displayData: title}, ...cells]) {
        paper.font = said === title ? theme.headerFontFull : theme.baseFontFull;
        const wide = Math.round(paper.measureText(said).width) + 2 * theme.cellHorizontalPadding;
        if (wide > width * (allowWrapping && rowHeight > 64 ? 1.8 : 1) + 1) cut.push(`${said} (${title}): ${wide} in ${width} pixels`);
      }
    });
  }
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
      if (boxes.length && !e.closest('[disabled], kbd, :hover, :focus, [aria-expanded=true]') && contrast(e) < 4.5) faint.push(`${said}: ${contrast(e).toFixed(1)}`);
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
    // The bar of Present and an open popover are over what scrolls.
    if ([BAR, POPOVER].some(over => !p.e.closest(over) !== !q.e.closest(over))) continue;
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
  for (const {clientHeight, scrollHeight} of document.querySelectorAll(POPOVER))
    if (clientHeight < Math.min(scrollHeight - 1, 120)) cut.push(`a popover: ${scrollHeight} in ${clientHeight} pixels`);
  return {cut: [...new Set(cut)], covered: [...new Set(covered)], faint: [...new Set(faint)],
          wide: Math.max(0, document.querySelector('[data-testid=stMain]').scrollWidth - innerWidth)};
}
