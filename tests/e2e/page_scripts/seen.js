([selector, pixels]) => {
  // Empty where enough of the main thing is in sight, else what is.
  const found = [...document.querySelectorAll(selector)];
  for (const host of document.querySelectorAll('[data-testid=stBidiComponentIsolated]'))
    found.push(...host.shadowRoot.querySelectorAll(selector));
  const box = found.find(e => e.getBoundingClientRect().height > 0)?.getBoundingClientRect();
  if (!box) return 'is not there';
  const least = Math.min(box.height, pixels ?? Infinity), seen = innerHeight - box.top;
  return seen >= least ? '' : `shows ${Math.round(seen)} of ${Math.round(least)} pixels`;
}
