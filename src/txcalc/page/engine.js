"use strict";
// Runs derivations that are data: see exact/program.py. Exact: a number is a BigInt, or a reduced
// fraction {n, d} where it is no integer; null is a value that is not there (a division by zero).
const Engine = (() => {
  const LARGEST = 10n ** 15n;

  const abs = (x) => (x < 0n ? -x : x);
  const floorDiv = (n, d) => {
    const q = n / d;
    return n % d !== 0n && n < 0n !== d < 0n ? q - 1n : q;
  };
  const gcd = (a, b) => {
    a = abs(a);
    b = abs(b);
    while (b) [a, b] = [b, a % b];
    return a;
  };
  const above = (x) => (typeof x === "bigint" ? x : x.n);
  const below = (x) => (typeof x === "bigint" ? 1n : x.d);

  function fraction(n, d) {
    if (d === 0n) return null;
    if (d < 0n) [n, d] = [-n, -d];
    const shared = gcd(n, d);
    return d === shared ? n / shared : { n: n / shared, d: d / shared };
  }

  function plus(a, b) {
    if (typeof a === "bigint" && typeof b === "bigint") return a + b;
    return fraction(above(a) * below(b) + above(b) * below(a), below(a) * below(b));
  }

  function times(a, b) {
    if (typeof a === "bigint" && typeof b === "bigint") return a * b;
    return fraction(above(a) * above(b), below(a) * below(b));
  }

  const over = (a, b) => fraction(above(a) * below(b), below(a) * above(b));
  const compare = (a, b) => {
    const left = above(a) * below(b), right = above(b) * below(a);
    return left < right ? -1 : left > right ? 1 : 0;
  };
  const floor = (x) => floorDiv(above(x), below(x));
  const ceil = (x) => -floorDiv(-above(x), below(x));

  const sumOfFirsts = (n, cap) => {
    const m = cap === undefined || n < cap ? n : cap;
    return (m * (m + 1n)) / 2n + (n - m) * m;
  };
  const sumOfSquares = (n, cap) => {
    const m = cap === undefined || n < cap ? n : cap;
    return (m * (m + 1n) * (2n * m + 1n)) / 6n + (m * (n * (n + 1n) - m * (m + 1n))) / 2n;
  };
  function series(power, low, high, cap) {
    if (high < low) return 0n;
    const upTo = power ? sumOfSquares : sumOfFirsts;
    return upTo(high, cap) - upTo(low - 1n, cap);
  }

  function tally(n, ...places) {
    const length = BigInt(places.length), whole = floorDiv(n, length);
    const rest = Number(n - whole * length);
    const count = (part) => part.reduce((sum, place) => sum + place, 0n);
    return whole * count(places) + count(places.slice(0, rest));
  }

  // Decimal arithmetic as Python's: [digits, exponent], rounded half to even.
  const digitsOf = (n) => n.toString().length;
  function rounded([n, e], precision) {
    const excess = digitsOf(abs(n)) - precision;
    if (excess <= 0) return [n, e];
    const scale = 10n ** BigInt(excess), rest = n % scale;
    let kept = n / scale;
    if (2n * rest > scale || (2n * rest === scale && kept % 2n === 1n)) kept += 1n;
    return rounded([kept, e + excess], precision);
  }
  const multiplied = (a, b, precision) => rounded([a[0] * b[0], a[1] + b[1]], precision);
  function divided(n, d, precision) {
    const shift = precision + digitsOf(d) - digitsOf(n) + 1;
    const scaled = shift > 0 ? n * 10n ** BigInt(shift) : n, over = shift > 0 ? d : d * 10n ** BigInt(-shift);
    let q = scaled / over;
    if (scaled % over !== 0n && q % 5n === 0n) q += 1n; // sticky: no tie where there is a rest
    return rounded([q, -shift], precision);
  }
  function power(base, n, precision) {
    const work = precision + digitsOf(n) + 2;
    let result = base;
    for (const bit of n.toString(2).slice(1)) {
      result = multiplied(result, result, work);
      if (bit === "1") result = multiplied(result, base, work);
      if (result[1] + digitsOf(result[0]) < -400) return [0n, 0]; // nothing of it is left in 1 - x
    }
    return rounded(result, precision);
  }
  function distinct(experts, topK, tokens) {
    const unused = plus(1n, over(times(-1n, topK), experts));
    const missed = divided(above(unused), below(unused), 60);
    const [n, e] = missed[0] === 0n ? [0n, 0] : power(missed, tokens, 60);
    const left = e < 0 ? [10n ** BigInt(-e) - n, e] : [1n - n * 10n ** BigInt(e), 0];
    const [digits, exponent] = rounded(multiplied([experts, 0], rounded(left, 60), 60), 40);
    const scale = 10n ** BigInt(Math.abs(exponent));
    return exponent < 0 ? fraction(digits, scale) : digits * scale;
  }

  const OPERATIONS = {
    sum: (...terms) => terms.reduce(plus, 0n),
    product: (...factors) => factors.reduce(times, 1n),
    quotient: over,
    floor,
    ceil,
    min: (a, b) => (compare(b, a) < 0 ? b : a),
    max: (a, b) => (compare(b, a) > 0 ? b : a),
    series,
    tally,
    distinct,
  };
  const RELATIONS = {
    multiple: (a, b) => above(a) % above(b) === 0n && below(a) === 1n,
    "at most": (a, b) => compare(a, b) <= 0,
    above: (a, b) => compare(a, b) > 0,
  };

  function parsed(text) {
    const [n, d] = text.split("/");
    return d === undefined ? BigInt(n) : fraction(BigInt(n), BigInt(d));
  }

  // Each node ready to be run: its operands apart, and what is constant read once.
  const READY = new WeakMap();
  function ready(program) {
    if (!READY.has(program))
      READY.set(program, program.nodes.map((node) => (typeof node === "string" ? { constant: parsed(node) } : { name: node[0], args: node.slice(1) })));
    return READY.get(program);
  }

  // The value of one node, those before it being known.
  function value(program, i, values, inputs) {
    const { constant, name, args } = ready(program)[i];
    if (constant !== undefined) return constant;
    if (name === "input") return inputs[args[0]];
    if (name === "bound") return 1n;
    if (name === "first") return first(program, args, values, inputs);
    const operands = [];
    for (const arg of args) {
      if (values[arg] === null) return null;
      operands.push(values[arg]);
    }
    return OPERATIONS[name](...operands);
  }

  // The least number of a bound node at which one node reaches another, by doubling and bisection.
  function first(program, [bound, a, b], known, inputs) {
    const values = known.slice(), needed = between(program, bound, Math.max(a, b));
    const holds = (n) => {
      values[bound] = n;
      for (const i of needed) values[i] = value(program, i, values, inputs);
      return values[a] !== null && values[b] !== null && compare(values[a], values[b]) >= 0;
    };
    return least(holds);
  }

  function least(holds) {
    let high = 1n;
    while (!holds(high)) {
      if (high > LARGEST) return null;
      high *= 2n;
    }
    let low = high / 2n;
    while (high - low > 1n) {
      const middle = (high + low) / 2n;
      if (holds(middle)) high = middle;
      else low = middle;
    }
    return high;
  }

  // The nodes up to `last` that depend on one, in order.
  function between(program, start, last) {
    const depends = new Set([start]);
    for (let i = start + 1; i <= last; i++) {
      const node = program.nodes[i];
      if (typeof node !== "string" && node[0] !== "input" && node.slice(1).some((arg) => depends.has(arg)))
        depends.add(i);
    }
    depends.delete(start);
    return [...depends];
  }

  // All nodes at some inputs.
  function run(program, inputs) {
    const values = [];
    for (let i = 0; i < program.nodes.length; i++) values.push(value(program, i, values, inputs));
    return values;
  }

  // A node as a function of one input, all else being as it is in `values`.
  function along(program, values, inputs, input, target) {
    const start = program.nodes.findIndex((node) => node[0] === "input" && node[1] === input);
    const needed = start < 0 ? [] : between(program, start, target);
    const here = values.slice();
    return (x) => {
      if (start === target) return x;
      if (!needed.length) return here[target];
      here[start] = x;
      for (const i of needed) here[i] = value(program, i, here, inputs);
      return here[target];
    };
  }

  // The same operations on numbers of 2^53: they draw curves, and nothing that is written.
  const FLOATS = {
    sum: (...terms) => terms.reduce((a, b) => a + b, 0),
    product: (...factors) => factors.reduce((a, b) => a * b, 1),
    quotient: (a, b) => a / b,
    floor: Math.floor,
    ceil: Math.ceil,
    min: Math.min,
    max: Math.max,
    series(power, low, high, cap = Infinity) {
      if (high < low) return 0;
      const upTo = (n) => {
        const m = Math.min(n, cap);
        return power
          ? (m * (m + 1) * (2 * m + 1)) / 6 + (n > m ? (m * (n * (n + 1) - m * (m + 1))) / 2 : 0)
          : (m * (m + 1)) / 2 + (n > m ? (n - m) * m : 0);
      };
      return upTo(high) - upTo(low - 1);
    },
    tally: (n, ...places) => (n * places.reduce((a, b) => a + b, 0)) / places.length,
    distinct: (experts, topK, tokens) => -experts * Math.expm1(tokens * Math.log1p(-topK / experts)),
  };

  // Some nodes as functions of one input, to be drawn.
  function curves(program, values, input, targets) {
    const start = program.nodes.findIndex((node) => node[0] === "input" && node[1] === input);
    const needed = start < 0 ? [] : between(program, start, Math.max(...targets));
    const here = values.map(approximate);
    return (x) => {
      if (start >= 0) here[start] = x;
      for (const i of needed) {
        const { name, args } = ready(program)[i];
        if (name in FLOATS) here[i] = FLOATS[name](...args.map((arg) => here[arg]));
      }
      return targets.map((target) => here[target]);
    };
  }

  const holds = ([relation, a, b], values) =>
    values[a] === null || values[b] === null || RELATIONS[relation](values[a], values[b]);

  // What a condition says is wrong: {0} and {1:,} stand for its two sides.
  const problem = ([, a, b, message], values) =>
    message.replace(/\{([01])(:,)?\}/g, (_, side, thousands) =>
      (thousands ? grouped : exact)(values[side === "0" ? a : b]),
    );

  // Texts.
  const exact = (x) => (x === null ? "" : typeof x === "bigint" ? x.toString() : `${x.n}/${x.d}`);
  const grouped = (x) => exact(x).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
  // A number as one of 2^53: for what is drawn, never for what is written.
  function approximate(x) {
    if (x === null) return NaN;
    if (typeof x === "bigint") return Number(x);
    const shift = 10n ** 25n;
    return abs(x.n) / x.d > 10n ** 20n ? Number(x.n / x.d) : Number((x.n * shift) / x.d) / 1e25;
  }
  // Rounded half to even to so many decimals.
  function fixed(x, places) {
    const scale = 10n ** BigInt(places), n = above(x) * scale, d = below(x);
    let q = floorDiv(n, d);
    const rest = 2n * (n - q * d);
    if (rest > d || (rest === d && q % 2n !== 0n)) q += 1n;
    const sign = q < 0n ? "-" : "", digits = abs(q).toString().padStart(places + 1, "0");
    if (!places) return sign + grouped(BigInt(digits));
    return `${sign}${grouped(BigInt(digits.slice(0, -places)))}.${digits.slice(-places)}`;
  }
  function decimal(x) {
    if (typeof x === "bigint") return grouped(x);
    const places = compare({ n: abs(x.n), d: x.d }, { n: 1n, d: 1000n }) >= 0 ? 6 : 12;
    const [whole, rest] = fixed(x, places).split(".");
    return `${whole}.${rest.replace(/0+$/, "") || "0"}`;
  }
  const BINARY = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
  function binary(x) {
    let step = 0;
    while (step < BINARY.length - 1 && compare(x, 1024n ** BigInt(step + 1)) >= 0) step++;
    if (!step) return `${decimal(x)} B`;
    return `${fixed(over(x, 1024n ** BigInt(step)), 2)} ${BINARY[step]}`;
  }

  return {
    LARGEST, FLOATS, OPERATIONS, RELATIONS, above, along, approximate, binary, ceil, compare, curves,
    decimal, exact,
    fixed, floor, fraction, grouped, holds, least, over, parsed, plus, problem, run, times,
  };
})();
