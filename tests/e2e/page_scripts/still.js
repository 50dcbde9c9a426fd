async () => {
  // Resolves when nothing on the page has moved for three looks.
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
}
