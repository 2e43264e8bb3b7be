"use strict";
// What a reader has set, the inputs and the command that it means, and its place in the URL.
const State = (() => {
  const FORMATS = { fp32: "4", fp16: "2", bf16: "2", fp8: "1", int8: "1", int4: "1/2" };
  const CHOICES = { kv: "cache", weights: "weights", dtype: "activations" };
  const BYTES = { kv_bytes: "kv", weight_bytes: "weights", activation_bytes: "dtype" };
  const fresh = () => ({ sizes: {}, options: {}, formats: { kv: "fp16", weights: "fp16", dtype: "fp16" }, opened: null, over: null });

  const own = (model, name) => {
    const slider = model.sliders.find((each) => each[0] === name);
    return BigInt(slider ? slider[3] : model.question[name]);
  };
  // The value of a dimension or a letter of the question; ctx follows the model's own context.
  function get(model, state, name) {
    if (name in state.sizes) return state.sizes[name];
    if (name in state.options) return state.options[name];
    if (name === "ctx" && "context" in state.sizes) return state.sizes.context;
    return own(model, name);
  }
  function set(model, state, name, value) {
    const kept = model.sliders.some((each) => each[0] === name) ? state.sizes : state.options;
    if (value === own(model, name) && !(name === "ctx" && "context" in state.sizes)) delete kept[name];
    else kept[name] = value;
  }
  const isMoved = (state, name) => name in state.sizes || name in state.options;

  const inputs = (model, state) =>
    model.inputs.map(([key, initial]) => {
      if (key in BYTES) return Engine.parsed(FORMATS[state.formats[BYTES[key]]]);
      if (key in model.question || model.sliders.some((each) => each[0] === key)) return get(model, state, key);
      return Engine.parsed(initial);
    });

  const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\"'\"'")}'`);
  function command(model, state, [address, phase]) {
    const account = address.split(".")[0], reads = DATA.reads[account] || [];
    const words = ["txcalc", "explain", model.name, address];
    for (const change of model.changes) words.push("--set", change);
    for (const [name, value] of Object.entries(state.sizes)) words.push("--set", `${name}=${value}`);
    if (phase && phase !== "token") words.push("--phase", phase);
    const say = (name, isNeeded) => {
      if (reads.includes(name) && name in model.question && isNeeded) words.push(`--${name}`, String(get(model, state, name)));
    };
    say("ctx", "ctx" in state.options || model.context === null);
    say("source", true);
    say("batch", "batch" in state.options);
    say("prompt", account === "intensity" || "prompt" in state.options);
    say("new", "new" in state.options);
    const { dtype, weights, kv } = state.formats;
    for (const [name, value, usual] of [["dtype", dtype, "fp16"], ["weights", weights, dtype], ["kv", kv, dtype]])
      if (reads.includes(name) && value !== usual) words.push(`--${name}`, value);
    return words.map(quoted).join(" ");
  }

  function hash(model, state) {
    const pairs = [["model", model.name]];
    for (const kept of [state.sizes, state.options]) for (const [name, value] of Object.entries(kept)) pairs.push([name, String(value)]);
    for (const [name, value] of Object.entries(state.formats)) if (value !== "fp16") pairs.push([name, value]);
    if (state.opened) pairs.push(["open", state.opened.filter(Boolean).join("@")]);
    if (state.over) pairs.push(["over", state.over]);
    return `#${new URLSearchParams(pairs)}`;
  }
  // What a URL says of a model, as far as it can be read.
  function read(text) {
    const pairs = new URLSearchParams(text.replace(/^#/, ""));
    const model = DATA.models.find((each) => each.name === pairs.get("model")) || DATA.models[0], state = fresh();
    for (const [name, value] of pairs) {
      const isKnown = name in model.question || model.sliders.some((each) => each[0] === name);
      if (name in CHOICES && value in FORMATS) state.formats[name] = value;
      else if (isKnown && /^[1-9]\d{0,15}$/.test(value) && BigInt(value) <= Engine.LARGEST) set(model, state, name, BigInt(value));
    }
    const [address, phase = ""] = (pairs.get("open") || "").split("@");
    if (model.figures.some((row) => row[0] === address && row[1] === phase)) state.opened = [address, phase];
    if (pairs.has("over")) state.over = pairs.get("over");
    return [model, state];
  }

  // A whole number as people write it, or null: 32768, 32,768, 32_768, 32Ki.
  function number(text) {
    const match = /^(\d{1,3}(?:[,_]\d{3})+|\d{1,16})(Ki|Mi|Gi|Ti)?$/.exec(text.trim());
    if (!match) return null;
    const value = BigInt(match[1].replace(/[,_]/g, "")) * 1024n ** BigInt(["Ki", "Mi", "Gi", "Ti"].indexOf(match[2]) + 1);
    return value >= 1n && value <= Engine.LARGEST ? value : null;
  }

  return { BYTES, CHOICES, FORMATS, command, fresh, get, hash, inputs, isMoved, number, own, quoted, read, set };
})();
