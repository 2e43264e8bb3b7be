"use strict";
// The page itself: sliders left, figures right; every text goes to the document as text.
(() => {
  const $ = (id) => document.getElementById(id);
  function make(name, classes, ...inside) {
    const made = document.createElement(name);
    if (classes) made.className = classes;
    made.append(...inside.filter((each) => each !== null));
    return made;
  }
  function button(text, classes, act) {
    const made = make("button", classes, text);
    made.type = "button";
    made.addEventListener("click", act);
    return made;
  }

  const states = new Map(DATA.models.map((model) => [model, State.fresh()]));
  let model, state, values, lastGood, wrong, rows = [], controls = new Map(), moved = null, waiting = 0;
  let width = 0, opening = 0; // pixels of a chart, and of that beside the opened figure

  const row = (address, phase = "") => model.figures.find((each) => each[0] === address && each[1] === phase);
  const at = (each) => lastGood[each[3]];
  const unavailable = (each) => wrong.some((condition) => condition[5] && each[0].startsWith(`${condition[5]}.`));
  function cell(each, with_unit) {
    const value = at(each);
    if (value === null || unavailable(each)) return "not there";
    if (each[2] === "bytes") return Engine.binary(value);
    const sign = each[5] && typeof value !== "bigint" ? "≈ " : "";
    return sign + Engine.decimal(value) + (with_unit && each[2] ? ` ${each[2]}` : "");
  }
  function words(value) {
    const names = ["", " thousand", " million", " billion", " trillion", " quadrillion"];
    const step = Math.min(5, Math.floor((value.toString().length - 1) / 3));
    if (step < 2) return Engine.decimal(value);
    const digits = Engine.approximate(Engine.over(value, 1000n ** BigInt(step)));
    return (digits >= 100 || step === 5 ? Math.round(digits).toLocaleString("en-US") : digits.toPrecision(3)) + names[step];
  }

  // Sliders: a logarithmic scale of round values on which a model's own stands.
  const STEPS = 240;
  const most = (own) => Math.max(64, Number(own) * 16);
  const position = (value, own) => Math.round((STEPS * Math.log(Math.min(Number(value), most(own)))) / Math.log(most(own)));
  function valueAt(place, own) {
    if (place === position(own, own)) return own;
    const x = most(own) ** (place / STEPS), step = 2 ** Math.max(0, Math.floor(Math.log2(x / 12)));
    return BigInt(Math.max(1, Math.round(x / step) * step));
  }

  function control(name, letter, about) {
    const slider = make("input"), text = make("input", "number"), label = make("label", "letter", letter);
    const own = () => State.own(model, name);
    slider.type = "range";
    Object.assign(slider, { min: 0, max: STEPS, id: `s-${name}`, title: about });
    slider.setAttribute("aria-label", `${name}: ${about}`);
    label.htmlFor = slider.id;
    label.title = about;
    text.setAttribute("aria-label", `${name} as a number`);
    text.inputMode = "numeric";
    slider.addEventListener("input", () => change(name, valueAt(Number(slider.value), own())));
    text.addEventListener("change", () => {
      const value = State.number(text.value);
      text.setAttribute("aria-invalid", value === null);
      $("entry").textContent = value === null ? `${name} ${text.value}: a whole number from 1 to 10^15 is needed` : "";
      if (value !== null) change(name, value);
    });
    const show = () => {
      const value = State.get(model, state, name);
      slider.value = position(value, own());
      slider.setAttribute("aria-valuetext", Engine.grouped(value));
      text.value = Engine.grouped(value);
      made.classList.toggle("moved", State.isMoved(state, name));
    };
    const made = make("div", "control", label, text, slider);
    controls.set(name, { show });
    return made;
  }

  function change(name, value) {
    State.set(model, state, name, value);
    moved = name;
    update();
  }

  function panel() {
    controls = new Map();
    const group = (title, list) => (list.length ? make("section", "", make("h2", "", title), make("div", "controls", ...list)) : null);
    const about = { ctx: "context in tokens", batch: "sequences at once", prompt: "prompt in tokens", new: "tokens generated", source: "the encoder's length in tokens" };
    const formats = Object.entries(State.CHOICES).map(([option, called]) => {
      const choice = make("select");
      choice.setAttribute("aria-label", `format of ${called}`);
      for (const name of Object.keys(State.FORMATS)) choice.append(make("option", "", name));
      choice.addEventListener("change", () => { state.formats[option] = choice.value; update(); });
      controls.set(option, { show: () => { choice.value = state.formats[option]; } });
      return make("div", "control", make("label", "", called), choice);
    });
    $("panel").replaceChildren(
      ...[
        group("Dimensions", model.sliders.map(([name, letter, meaning]) => control(name, name.includes(".") ? name : letter, meaning))),
        group("Workload", Object.keys(model.question).filter((name) => name in about).map((name) => control(name, name, about[name]))),
        group("Formats", formats),
        make("p", "entry", Object.assign(make("span"), { id: "entry" })),
        button("as the model is", "reset", () => { const { opened, over } = state; Object.assign(state, State.fresh(), { opened, over }); update(); }),
      ].filter(Boolean),
    );
    $("entry").setAttribute("role", "status");
  }

  // Four figures that lead, of those that a model has.
  const LEADING = [
    ["params.total", "", "parameters"], ["flops.total", "token", "FLOPs of a token"],
    ["kvcache.sequence", "", "cache of one sequence"], ["concurrency.crossover", "", "caches outweigh weights from"],
    ["weights.bytes", "", "weights"], ["flops.total", "prefill", "FLOPs of a prompt's pass"],
    ["intensity.prefill", "", "FLOPs per byte of a prompt's pass"], ["params.active", "", "parameters that a token uses"],
  ];
  const leading = () => LEADING.filter(([address, phase]) => row(address, phase)).slice(0, 4);
  function big(each) {
    const value = at(each);
    if (value === null || unavailable(each)) return ["not there", ""];
    if (each[2] === "bytes") return [Engine.binary(value), `${Engine.decimal(value)} bytes`];
    if (each[0] === "concurrency.crossover") return [Engine.decimal(value), `sequences; ratio ${cell(row("concurrency.ratio"))}`];
    return each[2].includes("/") ? [cell(each), each[2]] : [words(value), Engine.decimal(value)];
  }
  function lead() {
    $("lead").replaceChildren(
      ...leading().map(([address, phase, title]) => {
        const each = row(address, phase), [large, small] = big(each);
        const made = button("", "figure", () => open(address, phase));
        made.append(make("span", "what", title), make("span", "large", large), make("span", "small", small));
        made.classList.toggle("opened", isOpened(each));
        return made;
      }),
    );
  }
  const isOpened = (each) => each[0] === state.opened[0] && each[1] === state.opened[1];
  function open(address, phase) {
    state.opened = [address, phase];
    state.over = null;
    update();
    $("opened").scrollIntoView({ block: "nearest" });
  }

  // The name of the slider that an input node is, or "".
  function sliderOf(node) {
    const [operation, number] = model.nodes[node], key = operation === "input" ? model.inputs[number][0] : "";
    return controls.has(key) && !(key in State.CHOICES) ? key : "";
  }
  // The sliders that a node depends on.
  function movable(node) {
    const needed = new Set([node]), names = new Set();
    for (let i = node; i >= 0; i--) {
      if (!needed.has(i)) continue;
      const [operation, ...operands] = model.nodes[i];
      if (operation === "input") names.add(sliderOf(i));
      else if (typeof model.nodes[i] !== "string") operands.forEach((operand) => needed.add(operand));
    }
    return [...controls.keys()].filter((name) => names.has(name));
  }
  function formula(template, phase, letters) {
    return template.split(/(\{\d+\}|\[[^\]]+\])/).filter(Boolean).flatMap((piece) => {
      const letter = /^\{(\d+)\}$/.exec(piece), name = /^\[([^\]]+)\]$/.exec(piece);
      if (letter) {
        const each = model.letters[letter[1]];
        letters.add(each);
        return [letterOf(each)];
      }
      if (name) {
        const below = row(name[1], phase) || row(name[1]) || row(name[1], "token");
        if (!below) return [make("i", "", name[1])];
        const made = button("", "term below", () => open(below[0], below[1]));
        made.append(make("span", "", name[1]), make("small", "", cell(below)));
        return [made];
      }
      return piece.split(/( [-+] )/).filter(Boolean).map((text) => make("span", "sign", text));
    });
  }
  function letterOf([name, node, meaning]) {
    const value = lastGood[node], slider = sliderOf(node), made = make(slider ? "button" : "span", "term letter");
    made.append(make("i", "", name), make("small", "", value === null ? "" : Engine.decimal(value)));
    made.title = meaning;
    if (!slider) return made;
    made.type = "button";
    made.classList.toggle("moved", State.isMoved(state, slider));
    made.addEventListener("click", () => { state.over = slider; update(); });
    made.addEventListener("pointerdown", (event) => drag(event, slider));
    return made;
  }
  function drag(event, name) {
    const own = State.own(model, name), start = position(State.get(model, state, name), own), from = event.clientX;
    const move = ({ clientX }) => {
      if (Math.abs(clientX - from) > 3) change(name, valueAt(Math.max(0, Math.min(STEPS, start + Math.round((clientX - from) / 2))), own));
    };
    const end = () => { removeEventListener("pointermove", move); removeEventListener("pointerup", end); removeEventListener("pointercancel", end); };
    addEventListener("pointermove", move);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  }

  function opened() {
    const each = row(...state.opened), letters = new Set(), value = at(each);
    $("command").textContent = State.command(model, state, commanded(each));
    $("address").textContent = each[0] + (each[1] ? `, ${each[1]}` : "");
    $("formula").replaceChildren(...formula(each[4], each[1], letters));
    const isThere = value !== null && !unavailable(each);
    $("result").replaceChildren(
      make("span", "value", isThere ? `${each[5] && typeof value !== "bigint" ? "≈" : "="} ${Engine.decimal(value)}` : "not there"),
      make("span", "unit", isThere ? ` ${each[2]}${each[2] === "bytes" ? ` = ${Engine.binary(value)}` : ""}` : ""),
    );
    $("result").dataset.exact = isThere ? Engine.exact(value) : "";
    const legend = $("legend");
    legend.replaceChildren();
    for (const [name, , meaning, definition] of letters) {
      const explained = make("dd", "");
      if (definition) explained.append(make("span", "defined", "= ", ...formula(definition, each[1], letters)), meaning ? "; " : "");
      const format = state.formats[State.BYTES[name]];
      explained.append(format ? meaning.replace(/ in fp16$/, ` in ${format}`) : meaning);
      legend.append(make("dt", "", name), explained);
    }
    const names = movable(each[3]);
    if (!names.includes(state.over)) state.over = names.includes("ctx") ? "ctx" : names[0] || null;
    $("over").replaceChildren(...names.map((name) => {
      const made = button(name, "axis", () => { state.over = name; update(); });
      made.setAttribute("aria-pressed", name === state.over);
      return made;
    }));
    along(each);
  }
  // A figure that only stands on the way to others has no address: the command is that of one above.
  const commanded = (each) => (each[6] ? (model.figures.find((other) => !other[6] && other[4].includes(`[${each[0]}]`)) || model.figures[0]) : each);

  function along(each) {
    const place = $("along");
    if (!state.over) return place.replaceChildren();
    const input = model.inputs.findIndex(([key]) => key === state.over), here = Number(State.get(model, state, state.over));
    const f = Engine.curves(model, lastGood, input, [each[3]]);
    const points = Chart.places(1, Math.max(8, here * 2), false, 40).map((x) => [x, f(x)[0]]);
    Chart.draw(place, {
      room: opening,
      lines: [{ name: "", tone: "ink", at: points }], x: { title: state.over, unit: "" }, y: { unit: each[2] },
      marks: [{ x: here, y: f(here)[0], label: "" }], here, label: `${each[0]} over ${state.over}`,
    });
  }

  function sentence(...parts) {
    return make("p", "says", ...parts.map((part) => (Array.isArray(part) ? make("b", "", part[0]) : part)));
  }
  function block(title, says, drawing) {
    const place = make("div", "chart"), made = make("section", "block", make("h3", "", title), says, place);
    $("blocks").append(made);
    drawing(place);
  }
  const inputOf = (name) => model.inputs.findIndex(([key]) => key === name);
  const has = (...addresses) => addresses.every((address) => row(address) && !unavailable(row(address)) && at(row(address)) !== null);

  function blocks() {
    $("blocks").replaceChildren();
    components();
    if (has("concurrency.crossover")) caches();
    if (model.charts.token.length > 1) token();
    if (has("intensity.decode", "intensity.all.decode")) intensity("decode", "batch", "sequences at once", "a decode step");
    if (has("generation.flops.naive")) generation();
    if (has("intensity.prefill")) intensity("prefill", "prompt", "prompt", "a prompt’s pass");
    if (has("memory.gpu.total")) memory();
  }

  function components() {
    const parts = model.charts.components.map(([name, tone, node]) => [name, tone, lastGood[node]]);
    const whole = parts.reduce((sum, [, , count]) => Engine.plus(sum, count), 0n);
    if (!whole) return;
    const share = (count) => Engine.fixed(Engine.over(Engine.times(count, 100n), whole), 1);
    const [first] = [...parts].sort((a, b) => Engine.compare(b[2], a[2]));
    block("Where the parameters are", sentence("Of ", [Engine.decimal(whole)], ` parameters, ${share(first[2])}% are ${first[0]}.`), (place) => {
      const bar = make("div", "bar"), list = make("dl", "parts");
      for (const [name, tone, count] of parts) {
        const part = make("span", `part ${tone}`);
        part.style.flexGrow = Engine.approximate(Engine.over(count, whole));
        bar.append(part);
        list.append(make("dt", "", make("span", `swatch ${tone}`), name), make("dd", "", Engine.decimal(count)), make("dd", "share", `${share(count)}%`));
      }
      place.append(bar, list, ...model.charts.stacks.map(strip));
    });
  }
  function strip({ name, first, pattern, last, count }) {
    const layers = Number(lastGood[count]), kinds = [...new Set([...first, ...pattern, ...last])];
    const kind = (i) => (i < first.length ? first[i] : i >= layers - last.length ? last[i - layers + last.length] : pattern[(i - first.length) % pattern.length]);
    const made = make("div", "strip"), counts = new Map(kinds.map((each) => [each, 0]));
    if (layers <= 512) {
      for (let i = 0; i < layers; i++) {
        counts.set(kind(i), counts.get(kind(i)) + 1);
        made.append(make("span", `kind kind-${kinds.indexOf(kind(i)) % 4}`));
      }
    }
    const listed = kinds.length > 1 && layers <= 512 ? `: ${kinds.map((each) => `${counts.get(each)} ${each}`).join(", ")}` : "";
    const stack = model.charts.stacks.length > 1 ? ` of the ${name}` : "";
    return make("div", "", made, make("p", "says", `${Engine.grouped(lastGood[count])} layer${layers === 1 ? "" : "s"}${stack}${listed}`));
  }

  function caches() {
    const [weights, each, crossover] = ["weights.bytes", "kvcache.sequence", "concurrency.crossover"].map((address) => at(row(address)));
    const w = Engine.approximate(weights), c = Engine.approximate(each), x = Number(crossover);
    const xs = Chart.places(1, Math.max(16, x * 8), true, 30), ctx = Engine.grouped(State.get(model, state, "ctx"));
    block("Weights against caches", sentence("From ", [Engine.decimal(crossover)], ` sequences of ${ctx} tokens on, caches outweigh the weights.`), (place) =>
      Chart.draw(place, {
        room: width,
        lines: [{ name: "caches", tone: "mark", at: xs.map((n) => [n, n * c]) }, { name: "weights", tone: "attention", at: xs.map((n) => [n, w]) }],
        x: { log: true, unit: "", title: "sequences at once" }, y: { log: true, unit: "bytes" },
        marks: [{ x, y: x * c, label: Engine.decimal(crossover) }], here: Number(State.get(model, state, "batch")), label: "bytes of weights and of caches",
      }));
  }

  // The least number that reaches something: about where curves do, exactly where it does.
  function crossed(isAbout, isReached) {
    const about = Engine.least((n) => isAbout(Number(n)));
    if (about === null) return null;
    for (let n = about > 2n ? about - 2n : 1n; n <= about + 2n; n++)
      if (isReached(n) && (n === 1n || !isReached(n - 1n))) return n;
    return Engine.least(isReached);
  }
  function token() {
    const parts = model.charts.token, input = inputOf("ctx"), scores = parts.at(-1), nodes = parts.map((part) => part[2]);
    const exact = parts.map((part) => Engine.along(model, lastGood, null, input, part[2]));
    const isReached = (n) => {
      const each = exact.map((g) => g(n)), rest = each.slice(0, -1).reduce(Engine.plus, 0n);
      return Engine.compare(each.at(-1), rest) >= 0;
    };
    const f = Engine.curves(model, lastGood, input, nodes), here = Number(State.get(model, state, "ctx"));
    const crossing = scores[0] === "scores" ? crossed((x) => { const each = f(x); return each.at(-1) >= each.slice(0, -1).reduce((a, b) => a + b, 0); }, isReached) : null;
    const end = Math.max(here, crossing === null || crossing > 2n ** 40n ? 0 : Number(crossing)) * 4;
    const at_ = Chart.places(Math.min(128, here), Math.max(1024, end), true), drawn = at_.map(f);
    const says = crossing === null || crossing > 2n ** 40n ? sentence("Score products never cost as much as all the rest.")
      : sentence("Score products cost as much as all the rest from a context of ", [Engine.decimal(crossing)], " on.");
    block("A token’s FLOPs as its context grows", says, (place) =>
      Chart.draw(place, {
        room: width,
        lines: parts.map(([name, tone], i) => ({ name, tone, at: at_.map((x, j) => [x, drawn[j][i]]) })).filter((line) => line.at.some(([, y]) => y > 0)),
        x: { log: true, unit: "", title: "context" }, y: { log: true, unit: "FLOPs" },
        marks: crossing === null ? [] : [{ x: Number(crossing), y: f(Number(crossing)).at(-1), label: "" }], here, label: "FLOPs of a token by component",
      }));
  }

  function device() {
    const choice = make("select", "device");
    choice.setAttribute("aria-label", "device");
    for (const [name] of DATA.devices) choice.append(make("option", "", name));
    choice.value = chosen()[0];
    choice.addEventListener("change", () => { state.device = choice.value; update(); });
    return choice;
  }
  const chosen = () => DATA.devices.find(([name]) => name === state.device) || DATA.devices.find(([name]) => name === "h100-sxm") || DATA.devices[0];

  function intensity(phase, letter, title, what) {
    const figures = [row(`intensity.${phase}`), row(`intensity.all.${phase}`)], [name, , bandwidth, peak] = chosen();
    const f = Engine.curves(model, lastGood, inputOf(letter), figures.map((each) => each[3])), here = Number(State.get(model, state, letter));
    const xs = Chart.places(1, Math.max(4096, here * 4), true), drawn = xs.map(f), ridge = Engine.approximate(Engine.over(Engine.parsed(peak), Engine.parsed(bandwidth)));
    const who = phase === "decode" ? "A decode step" : `A prompt of ${Engine.grouped(State.get(model, state, letter))} tokens`;
    const says = make("p", "says", `${who} does `, make("b", "", cell(figures[0])), ` FLOPs for each byte of weights that it reads, ${cell(figures[1])} for all that it moves. Ridge of `, device());
    block(`FLOPs per byte of ${what}`, says, (place) =>
      Chart.draw(place, {
        room: width,
        lines: [{ name: "weights only", tone: "embedding", at: xs.map((x, i) => [x, drawn[i][0]]) }, { name: "all traffic", tone: "head", at: xs.map((x, i) => [x, drawn[i][1]]) }],
        x: { log: true, unit: "", title }, y: { log: true, unit: "FLOPs/byte" },
        levels: peak === "0" ? [] : [{ y: ridge, label: `ridge of ${name}: ${ridge.toFixed(0)}` }], here, label: `FLOPs per byte of ${what}`,
      }));
  }

  function generation() {
    const figures = [row("generation.flops.naive"), row("generation.flops.cached")], letter = "new", here = Number(State.get(model, state, letter));
    const f = Engine.curves(model, lastGood, inputOf(letter), figures.map((each) => each[3])), xs = Chart.places(1, Math.max(2, here), false), drawn = xs.map(f);
    const prompt = Engine.grouped(State.get(model, state, "prompt"));
    const says = sentence("A cache makes ", [Engine.grouped(State.get(model, state, letter))], ` tokens after a prompt of ${prompt} for 1/${cell(row("generation.flops.ratio"))} of the FLOPs; it processes ${cell(row("generation.tokens.cached"))} tokens instead of ${cell(row("generation.tokens.naive"))}.`);
    block("Generating, with a cache and without", says, (place) =>
      Chart.draw(place, {
        room: width,
        lines: [{ name: "naive", tone: "mark", at: xs.map((x, i) => [x, drawn[i][0]]) }, { name: "cached", tone: "attention", at: xs.map((x, i) => [x, drawn[i][1]]) }],
        x: { unit: "", title: "new tokens" }, y: { unit: "FLOPs" }, label: "FLOPs of generation, naive and cached",
      }));
  }

  function memory() {
    const total = at(row("memory.gpu.total")), [, size] = chosen(), room = Engine.parsed(size), weights = at(row("memory.gpu.loaded"));
    const isShort = Engine.compare(total, room) > 0, gap = isShort ? Engine.plus(total, Engine.times(-1n, room)) : Engine.plus(room, Engine.times(-1n, total));
    const batch = Engine.grouped(State.get(model, state, "batch"));
    const says = make("p", "says", `Weights and ${batch} cache${batch === "1" ? "" : "s"} take `, make("b", "", Engine.binary(total)), isShort ? `, ${Engine.binary(gap)} more than one ` : ` and leave ${Engine.binary(gap)} on one `, device(), ` (${Engine.binary(room)}) has. Not in it: activations, workspaces.`);
    block("Memory on one device", says, (place) => {
      const bar = make("div", "bar"), whole = Engine.compare(total, room) > 0 ? total : room;
      for (const [tone, part] of [["attention", weights], ["mark", Engine.plus(total, Engine.times(-1n, weights))], ["empty", isShort ? 0n : gap]]) {
        const made = make("span", `part ${tone}`);
        made.style.flexGrow = Engine.approximate(Engine.over(part, whole));
        bar.append(made);
      }
      place.append(bar, make("dl", "parts", make("dt", "", make("span", "swatch attention"), "weights"), make("dd", "", Engine.binary(weights)), make("dd", "share"),
        make("dt", "", make("span", "swatch mark"), "caches"), make("dd", "", Engine.binary(Engine.plus(total, Engine.times(-1n, weights)))), make("dd", "share")));
    });
  }

  // All figures, their texts written once they come into view or the page is idle.
  function table() {
    rows = model.figures.filter((each) => !each[6]).map((each) => {
      const value = make("td", "value"), made = make("tr", "", make("td", "", button(each[0] + (each[1] ? `, ${each[1]}` : ""), "open", () => open(each[0], each[1]))), value, make("td", "unit", each[2]));
      return { each, value, made };
    });
    $("rows").replaceChildren(...rows.map(({ made }) => made));
    filter();
  }
  function filter() {
    const wanted = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const { each, made } of rows) made.hidden = !wanted.every((word) => `${each[0]}, ${each[1]}`.toLowerCase().includes(word));
    fill();
  }
  function fill() {
    clearTimeout(waiting);
    let i = 0;
    const some = () => {
      const until = performance.now() + 6;
      for (; i < rows.length && performance.now() < until; i++) if (!rows[i].made.hidden) rows[i].value.textContent = cell(rows[i].each);
      if (i < rows.length) waiting = setTimeout(some);
    };
    waiting = setTimeout(some);
  }

  function beside() {
    $("beside").hidden = DATA.models.length < 2;
    if (DATA.models.length < 2) return;
    const [kept, keptState, keptValues, keptWrong] = [model, state, lastGood, wrong], lines = [];
    for (const other of DATA.models) {
      [model, state] = [other, states.get(other)];
      lastGood = other === kept ? keptValues : Engine.run(other, State.inputs(other, state));
      wrong = other === kept ? keptWrong : other.conditions.filter((each) => !Engine.holds(each, lastGood));
      const cells = LEADING.slice(0, 5).map(([address, phase]) => (row(address, phase) ? big(row(address, phase))[0] : "not there"));
      lines.push(make("tr", "", make("th", "", button(other.called, "open", () => choose(other))), ...cells.map((text) => make("td", "value", text))));
    }
    [model, state, lastGood, wrong] = [kept, keptState, keptValues, keptWrong];
    $("models").replaceChildren(make("tr", "", make("th", "", ""), ...LEADING.slice(0, 5).map(([, , title]) => make("th", "", title))), ...lines);
  }

  // What the description refuses: the message, and the nearest values of the moved letter that fit.
  function notices() {
    const refused = wrong.find((each) => !each[5]), account = state.opened[0].split(".")[0], notes = [];
    if (refused) {
      const note = make("p", "refused", `${refused[4] ? `${refused[4]}: ` : ""}${Engine.problem(refused, values)}`), fits = moved ? nearest(moved) : [];
      if (fits.length) note.append(" Nearest that fit: ", ...fits.map((value) => button(`${moved} = ${Engine.grouped(value)}`, "fit", () => change(moved, value))));
      notes.push(note);
    }
    for (const each of wrong) if (each[5] === account) notes.push(make("p", "refused", Engine.problem(each, values)));
    const limits = refused ? [] : model.limits.filter((each) => each[5] === account && !Engine.holds(each, values));
    for (const text of new Set(limits.map((each) => Engine.problem(each, values)))) notes.push(make("p", "warned", text));
    $("notices").replaceChildren(...notes);
    $("figures").classList.toggle("stale", Boolean(refused));
  }
  function nearest(name) {
    const input = inputOf(name), own = State.get(model, state, name), found = [];
    const conditions = model.conditions.filter((each) => !each[5]);
    const sides = conditions.map(([, a, b]) => [a, b].map((node) => Engine.along(model, values, null, input, node)));
    const fits = (v) => conditions.every(([relation], i) => { const [a, b] = sides[i].map((f) => f(v)); return a === null || b === null || Engine.RELATIONS[relation](a, b); });
    for (const way of [-1n, 1n]) {
      for (let i = 1n; i <= 4000n && own + way * i > 0n; i++)
        if (fits(own + way * i)) { found.push(own + way * i); break; }
    }
    return found;
  }

  // Pixels that charts have: read when the window changes, not with each move.
  function measure() {
    const all = $("lead").clientWidth, isWide = matchMedia("(min-width: 1051px)").matches;
    width = isWide ? (all - 48) / 2 : all;
    opening = isWide ? Math.min(340, (all - 40) / 2) : all;
  }

  function update() {
    const inputs = State.inputs(model, state);
    values = Engine.run(model, inputs);
    wrong = model.conditions.filter((each) => !Engine.holds(each, values));
    const refused = wrong.some((each) => !each[5]);
    if (!refused || !lastGood) lastGood = values;
    for (const { show } of controls.values()) show();
    notices();
    lead();
    opened();
    if (!refused || !$("blocks").childElementCount) {
      blocks();
      beside();
      fill();
    }
    history.replaceState(null, "", State.hash(model, state));
  }

  function choose(other) {
    model = other;
    state = states.get(model);
    lastGood = null;
    moved = Object.keys(state.sizes).at(-1) || null;
    const [first] = leading();
    state.opened ||= row("kvcache.sequence") ? ["kvcache.sequence", ""] : [first[0], first[1]];
    for (const tab of $("tabs").children) tab.setAttribute("aria-current", tab.dataset.name === model.name);
    $("blocks").replaceChildren();
    $("title").textContent = model.called;
    $("source").textContent = model.source;
    document.title = `${model.called} - txcalc`;
    panel();
    values = lastGood = Engine.run(model, State.inputs(model, State.fresh()));
    wrong = [];
    table();
    update();
  }

  function theme(name) {
    document.documentElement.dataset.theme = name;
    $("theme").textContent = name === "dark" ? "light" : "dark";
  }

  $("tabs").append(...DATA.models.map((each) => { const tab = button(each.called, "tab", () => choose(each)); tab.dataset.name = each.name; return tab; }));
  $("filter").addEventListener("input", filter);
  $("copy").addEventListener("click", () => navigator.clipboard && navigator.clipboard.writeText($("command").textContent));
  theme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  $("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  addEventListener("resize", () => { measure(); update(); });
  addEventListener("hashchange", () => start());
  function start() {
    measure();
    const [named, read] = State.read(location.hash);
    states.set(named, read);
    choose(named);
  }
  start();
})();
