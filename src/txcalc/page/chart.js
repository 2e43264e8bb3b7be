"use strict";
// Charts as SVG, in the pixels of the place where they stand; lines are named at their ends.
const Chart = (() => {
  const SPACE = "http://www.w3.org/2000/svg", LINE = 15;

  function element(name, attributes, text) {
    const made = document.createElementNS(SPACE, name);
    for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
    if (text !== undefined) made.textContent = text;
    return made;
  }

  const DECIMAL = ["", "k", "M", "G", "T", "P", "E", "Z"], BINARY = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  function short(value, unit) {
    const [base, names] = unit === "bytes" ? [1024, BINARY] : [1000, DECIMAL];
    let step = 0;
    if (unit === "bytes" || value >= 1e5 || (unit && value >= 1000))
      while (step < names.length - 1 && value >= base ** (step + 1) * 0.9999) step++;
    const size = value / base ** step;
    const digits = size >= 100 || size === Math.round(size) ? Engine.grouped(BigInt(Math.round(size))) : String(+size.toPrecision(3));
    return `${digits} ${names[step]}`.trim();
  }

  function ticks(low, high, isLog, unit, most) {
    if (isLog) {
      const base = unit && unit !== "bytes" ? 10 : 2, log = (x) => Math.log(x) / Math.log(base);
      const from = Math.ceil(log(low) - 1e-9), to = Math.floor(log(high) + 1e-9);
      const stride = Math.max(1, Math.ceil((to - from + 1) / most)), places = [];
      for (let i = from; i <= to; i += stride) places.push(base ** i);
      return places;
    }
    const base = unit === "bytes" ? 1024 : 1000, size = base ** Math.max(0, Math.floor(Math.log(high) / Math.log(base)));
    const steps = unit === "bytes" ? [...Array(16).keys()].map((i) => 2 ** (i - 4)) : [...Array(9).keys()].flatMap((i) => [1, 2, 5].map((d) => d * 10 ** (i - 5)));
    const step = (steps.find((s) => high / (s * size) <= most) || steps.at(-1)) * size, places = [];
    for (let x = Math.max(0, Math.ceil(low / step - 1e-9)) * step; x <= high * (1 + 1e-9); x += step) places.push(x);
    return places;
  }

  // Places as near as can be to some, `LINE` apart, between two ends.
  function apart(places, low, high) {
    const order = places.map((y, i) => [y, i]).sort((a, b) => a[0] - b[0]), moved = [];
    let at = low - LINE;
    for (const [y, i] of order) moved[i] = at = Math.max(y, at + LINE);
    at = high + LINE;
    for (const [, i] of order.reverse()) moved[i] = at = Math.min(moved[i], at - LINE);
    return moved;
  }

  // room: pixels across; lines: {name, tone, at: [[x, y]]}; x, y: {log, unit, title}; marks: {x, y, label}; here: an x.
  function draw(place, { room, lines, x, y, marks = [], levels = [], here, label }) {
    const width = Math.max(240, room), height = Math.round(Math.min(280, 120 + width * 0.3));
    const all = lines.flatMap((line) => line.at).filter(([a, b]) => isFinite(a) && isFinite(b) && (!y.log || b > 0));
    const svg = element("svg", { width, height, role: "img", "aria-label": label });
    place.replaceChildren(svg);
    if (!all.length) return;
    const xs = all.map((p) => p[0]), ys = [...all.map((p) => p[1]), ...levels.map((level) => level.y)];
    const [x0, x1] = [Math.min(...xs), Math.max(...xs)], y1 = Math.max(...ys), y0 = y.log ? Math.min(...ys) : 0;
    const named = ticks(y0, y1, y.log, y.unit, 6).map((at) => [at, short(at, y.unit)]);
    const left = 12 + 7 * Math.max(3, ...named.map(([, text]) => text.length));
    const right = 14 + 7.2 * Math.max(4, ...lines.map((line) => line.name.length)), top = 18, bottom = 44;
    const scale = (v, a, b, log) => (log ? (Math.log(v) - Math.log(a)) / (Math.log(b) - Math.log(a) || 1) : (v - a) / (b - a || 1));
    const px = (v) => left + scale(v, x0, x1, x.log) * (width - left - right);
    const py = (v) => height - bottom - scale(v, y0, y1, y.log) * (height - top - bottom);
    for (const [at, text] of named) {
      svg.append(element("line", { x1: left, x2: width - right, y1: py(at), y2: py(at), class: "grid" }));
      svg.append(element("text", { x: left - 8, y: py(at) + 4, class: "tick end" }, text));
    }
    const most = Math.max(2, Math.floor((width - left - right) / 62));
    for (const at of ticks(x0, x1, x.log, x.unit, most))
      svg.append(element("text", { x: px(at), y: height - bottom + 18, class: "tick middle" }, short(at, x.unit)));
    svg.append(element("text", { x: width - right, y: height - 6, class: "tick end" }, x.title));
    for (const level of levels) {
      svg.append(element("line", { x1: left, x2: width - right, y1: py(level.y), y2: py(level.y), class: "level" }));
      svg.append(element("text", { x: left + 4, y: py(level.y) - 5, class: "tick" }, level.label));
    }
    lines.forEach((line, i) => {
      const points = line.at.filter(([, v]) => isFinite(v) && (!y.log || v > 0));
      svg.append(element("path", { d: points.map(([a, b], j) => `${j ? "L" : "M"}${px(a).toFixed(1)} ${py(b).toFixed(1)}`).join(""), class: `line line-${i} ${line.tone}` }));
    });
    const ends = lines.map((line) => py(Math.max(y.log ? y0 : 0, line.at.at(-1)[1] || y0)));
    apart(ends, top, height - bottom).forEach((at, i) => {
      if (Math.abs(at - ends[i]) > 2) svg.append(element("path", { d: `M${width - right + 1} ${ends[i]}L${width - right + 6} ${at}`, class: `leader ${lines[i].tone}` }));
      svg.append(element("text", { x: width - right + 8, y: at + 4, class: `name ${lines[i].tone}` }, lines[i].name));
    });
    for (const mark of marks) {
      if (!(mark.x >= x0 && mark.x <= x1)) continue;
      svg.append(element("line", { x1: px(mark.x), x2: px(mark.x), y1: py(mark.y), y2: height - bottom, class: "drop" }));
      svg.append(element("circle", { cx: px(mark.x), cy: py(mark.y), r: 4, class: "point" }));
      svg.append(element("text", { x: px(mark.x) - 8, y: py(mark.y) - 8, class: "tick strong end" }, mark.label));
    }
    if (here >= x0 && here <= x1) svg.append(element("path", { d: `M${px(here)} ${height - bottom + 1}l-4 6h8z`, class: "here" }));
  }

  // So many places from a to b, on a logarithmic axis whole numbers.
  function places(a, b, log, count = 48) {
    const made = [];
    for (let i = 0; i < count; i++) {
      const t = i / (count - 1);
      made.push(Math.max(1, Math.round(log ? a * (b / a) ** t : a + (b - a) * t)));
    }
    return [...new Set(made)];
  }

  return { draw, places, short };
})();
