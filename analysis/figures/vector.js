// The picture as it is laid out, in SVG: grounds, rims, lines and texts, each where the browser has put it.
function toSvg(root) {
  const box = root.getBoundingClientRect();
  const make = (tag, attributes, text = "") => {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    node.textContent = text;
    return node;
  };
  const size = { width: box.width, height: box.height };
  const svg = make("svg", { ...size, viewBox: `0 0 ${box.width} ${box.height}` });
  const paper = document.createElement("canvas").getContext("2d");

  function rect(into, b, look, grow, paint) {
    const round = look.borderTopLeftRadius;
    const rx = round.endsWith("%") ? (b.width * parseFloat(round)) / 100 : parseFloat(round);
    const place = { x: b.x - box.x - grow, y: b.y - box.y - grow };
    const wide = Math.max(0, b.width + 2 * grow), high = Math.max(0, b.height + 2 * grow);
    into.append(make("rect", { ...place, width: wide, height: high, rx: Math.max(0, rx + grow), ...paint }));
  }

  function edges(into, b, look) {
    const width = parseFloat(look.borderTopWidth);
    if (width && [look.borderRightWidth, look.borderBottomWidth].every(other => parseFloat(other) === width)) {
      rect(into, b, look, -width / 2, { fill: "none", stroke: look.borderTopColor, "stroke-width": width });
    } else {
      const plain = { borderTopLeftRadius: "0px" };
      if (width) rect(into, new DOMRect(b.x, b.y, b.width, width), plain, 0, { fill: look.borderTopColor });
      const left = parseFloat(look.borderLeftWidth);
      if (left) rect(into, new DOMRect(b.x, b.y, left, b.height), plain, 0, { fill: look.borderLeftColor });
    }
    const outline = parseFloat(look.outlineWidth);
    if (outline && look.outlineStyle !== "none") {
      const grow = parseFloat(look.outlineOffset) + outline / 2;
      rect(into, b, look, grow, { fill: "none", stroke: look.outlineColor, "stroke-width": outline });
    }
  }

  function words(node, into) {
    const look = getComputedStyle(node.parentElement), range = document.createRange(), lines = [];
    for (let at = 0; at < node.length; at++) {
      range.setStart(node, at);
      range.setEnd(node, at + 1);
      const [b] = range.getClientRects();
      if (!b) continue;
      const line = lines.at(-1);
      if (line && Math.abs(line.y - b.y) < 2) line.text += node.data[at];
      else lines.push({ x: b.x, y: b.y, text: node.data[at] });
    }
    paper.font = `${look.fontWeight} ${look.fontSize} ${look.fontFamily}`;
    const font = { "font-family": look.fontFamily, "font-size": look.fontSize, "font-weight": look.fontWeight };
    for (const { x, y, text } of lines) {
      const base = y + paper.measureText(text).fontBoundingBoxAscent;
      if (text.trim()) into.append(make("text", { x: x - box.x, y: base - box.y, fill: look.color, ...font }, text.trimEnd()));
    }
  }

  (function draw(node, into) {
    if (node.nodeType === Node.TEXT_NODE) return words(node, into);
    const look = getComputedStyle(node), b = node.getBoundingClientRect();
    if (node.namespaceURI === SVG) {
      const copy = node.cloneNode(true);
      Object.entries({ x: b.x - box.x, y: b.y - box.y, width: b.width, height: b.height }).forEach(
        ([name, value]) => copy.setAttribute(name, value));
      copy.removeAttribute("style");
      return into.append(copy);
    }
    if (look.opacity < 1) into = into.appendChild(make("g", { opacity: look.opacity }));
    if (!/, 0\)$/.test(look.backgroundColor)) rect(into, b, look, 0, { fill: look.backgroundColor });
    edges(into, b, look);
    for (const child of node.childNodes) draw(child, into);
  })(root, svg);
  return new XMLSerializer().serializeToString(svg);
}

// A map of `svg_draw.py`; Pillow draws rims inwards.
function drawn({ size: [wide, high], width, calls }) {
  const make = (tag, attributes) => {
    const node = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    return node;
  };
  const size = { width, height: (width * high) / wide, viewBox: `0 0 ${wide} ${high}` };
  const svg = make("svg", { ...size, "font-family": "'Source Sans 3', 'Source Sans', sans-serif" });
  for (const call of calls) {
    const points = call.rings.flat(), paint = { fill: call.fill ?? "none" };
    const xs = points.map(([x]) => x), ys = points.map(([, y]) => y);
    const [left, right] = [Math.min(...xs), Math.max(...xs)], [top, bottom] = [Math.min(...ys), Math.max(...ys)];
    if (right < 0 || bottom < 0 || left > wide || top > high) continue;
    if (call.outline) Object.assign(paint, { stroke: call.outline, "stroke-width": call.width ?? 1 });
    const path = end => ({ d: call.rings.map(ring => `M${ring.map(at => at.join(" ")).join("L")}${end}`).join("") });
    const rim = call.outline ? (call.width ?? 1) / 2 : 0;
    const centre = { cx: (left + right) / 2, cy: (top + bottom) / 2 };
    const shapes = {
      line: ["path", { ...path(""), fill: "none", stroke: call.fill, "stroke-width": call.width }],
      polygon: ["path", { ...path("Z"), ...paint, "fill-rule": "evenodd" }],
      ellipse: ["ellipse", { ...centre, rx: (right - left) / 2 - rim, ry: (bottom - top) / 2 - rim, ...paint }],
      rectangle: ["rect", { x: left, y: top, width: right - left, height: bottom - top, rx: call.radius ?? 0, ...paint }],
      text: ["text", { x: left, y: top, ...paint, "font-size": call.letters, textLength: call.wide }],
    };
    const shape = svg.appendChild(make(...shapes[call.kind]));
    if (call.text) shape.textContent = call.text;
  }
  return svg;
}

// Lays a picture out, page elements or a map; its SVG and its size in pixels.
function layOut(picture, width, style) {
  document.head.append(Object.assign(document.createElement("style"), { textContent: style }));
  document.body.style.margin = 0;
  const isMap = !Array.isArray(picture), shown = isMap ? drawn(picture) : build(picture);
  shown.style.display = "block";
  if (!isMap) shown.style.width = `${width}px`;
  document.body.append(shown);
  const { width: wide, height: high } = shown.getBoundingClientRect();
  return { svg: isMap ? new XMLSerializer().serializeToString(shown) : toSvg(shown), wide, high };
}
