// A scalar engine for the pages, as short as the one that students build, and a reader of formulas.

class Value {
  constructor(data, operands = [], op = "", back = () => {}) {
    this.data = data;
    this.grad = 0;
    this.operands = operands;
    this.op = op;
    this.back = back; // passes this node's gradient on to its operands
    this.label = "";
  }

  add(other) {
    const out = new Value(this.data + other.data, [this, other], "+", () => {
      this.grad += out.grad;
      other.grad += out.grad;
    });
    return out;
  }

  mul(other) {
    const out = new Value(this.data * other.data, [this, other], "*", () => {
      this.grad += other.data * out.grad;
      other.grad += this.data * out.grad;
    });
    return out;
  }

  pow(exponent) {
    const out = new Value(this.data ** exponent, [this], `**${exponent}`, () => {
      if (exponent !== 0) this.grad += exponent * this.data ** (exponent - 1) * out.grad;
    });
    return out;
  }

  // Applies a function of one number; `slope` takes its input and output and returns its slope.
  apply(op, forward, slope) {
    const out = new Value(forward(this.data), [this], op, () => {
      this.grad += slope(this.data, out.data) * out.grad;
    });
    return out;
  }

  neg() { return this.apply("neg", (x) => -x, () => -1); }
  sub(other) {
    const out = new Value(this.data - other.data, [this, other], "-", () => {
      this.grad += out.grad;
      other.grad -= out.grad;
    });
    return out;
  }
  div(other) {
    const out = new Value(this.data / other.data, [this, other], "/", () => {
      this.grad += out.grad / other.data;
      other.grad -= (this.data / other.data ** 2) * out.grad;
    });
    return out;
  }
  exp() { return this.apply("exp", Math.exp, (_, y) => y); }
  log() { return this.apply("log", Math.log, (x) => 1 / x); }
  tanh() { return this.apply("tanh", Math.tanh, (_, y) => 1 - y * y); }
  relu() { return this.apply("relu", (x) => Math.max(x, 0), (x) => (x > 0 ? 1 : 0)); }
  sigmoid() {
    return this.apply("sigmoid", (x) => (1 + Math.tanh(x / 2)) / 2, (_, y) => y * (1 - y));
  }

  // Every node behind this one, operands first, without recursion.
  order() {
    const nodes = [], seen = new Set(), tasks = [[this, false]];
    while (tasks.length) {
      const [node, ready] = tasks.pop();
      if (ready) nodes.push(node);
      else if (!seen.has(node)) {
        seen.add(node);
        tasks.push([node, true]);
        for (const operand of [...node.operands].reverse()) tasks.push([operand, false]);
      }
    }
    return nodes;
  }

  backward() {
    const nodes = this.order();
    this.grad = 1;
    for (const node of nodes.reverse()) node.back();
  }
}

const FUNCTIONS = ["exp", "log", "tanh", "relu", "sigmoid"];

// Reads a formula such as "tanh(x * w + b)", or several that name their results, "n = x * w; tanh(n)".
// Returns the names of its inputs, and a function that computes it from Values by name.
function read(text) {
  const names = [], results = new Set(), lines = [];
  for (const line of text.split(";")) {
    const [, result, formula] = line.match(/^\s*(?:([A-Za-z_]\w*)\s*=)?(.*)$/s);
    const compute = readLine(formula, (name) => {
      if (!results.has(name) && !names.includes(name)) names.push(name);
    });
    lines.push([result, compute]);
    if (result) results.add(result);
  }
  return { names, compute: (inputs) => {
    const values = { ...inputs };
    let out;
    for (const [result, compute] of lines) {
      out = compute(values);
      if (result) (values[result] = out).label = result;
    }
    return out;
  } };
}

function readLine(formula, meet) {
  const tokens = formula.match(/\*\*|[A-Za-z_]\w*|\d+\.?\d*|\.\d+|\S/g) ?? [];
  let at = 0;
  const take = (...wanted) => (wanted.includes(tokens[at]) ? tokens[at++] : null);
  const need = (wanted) => {
    if (!take(wanted)) throw new Error(`“${wanted}” is missing ${here()}`);
  };
  const here = () => (at < tokens.length ? `before “${tokens[at]}”` : "at the end");

  function chain(next, methods) {
    let left = next();
    for (let op = take(...Object.keys(methods)); op; op = take(...Object.keys(methods))) {
      const [one, other, method] = [left, next(), methods[op]];
      left = (values) => one(values)[method](other(values));
    }
    return left;
  }
  const sum = () => chain(product, { "+": "add", "-": "sub" });
  const product = () => chain(factor, { "*": "mul", "/": "div" });
  function factor() {
    if (take("-")) {
      const inside = factor();
      return (values) => inside(values).neg();
    }
    const base = atom();
    if (!take("**", "^")) return base;
    const sign = take("-") ? -1 : 1;
    const exponent = sign * Number(tokens[at++]);
    if (!Number.isFinite(exponent)) throw new Error("an exponent has to be a plain number");
    return (values) => base(values).pow(exponent);
  }
  function atom() {
    const token = tokens[at++];
    if (token === undefined) throw new Error("the formula ends too early");
    if (token === "(") {
      const inside = sum();
      need(")");
      return inside;
    }
    if (/^[\d.]/.test(token)) return () => new Value(Number(token));
    if (FUNCTIONS.includes(token)) {
      need("(");
      const inside = sum();
      need(")");
      return (values) => inside(values)[token]();
    }
    if (!/^[A-Za-z_]/.test(token)) throw new Error(`“${token}” was not expected`);
    meet(token);
    return (values) => values[token];
  }

  const compute = sum();
  if (at < tokens.length) throw new Error(`“${tokens[at]}” was not expected`);
  return compute;
}
