// What the interactives share: controls, numbers, and the drawing of a graph.

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const short = (number) => {
  if (!Number.isFinite(number)) return String(number);
  const size = Math.abs(number);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) return number.toExponential(3);
  return String(Number(number.toPrecision(4)));
};
const safe = (words) => words.replace(/[&<>"]/g, (one) => `&#${one.charCodeAt(0)};`);

function button(words, act) {
  const made = make("button", { type: "button" }, words);
  made.addEventListener("click", () => made.getAttribute("aria-disabled") !== "true" && act());
  return made;
}
// Unlike `disabled`, `aria-disabled` leaves the keyboard's focus where it is.
const enable = (made, on) => made.setAttribute("aria-disabled", String(!on));

function slider(name, value, low, high, step, act) {
  const shown = make("output", { "aria-hidden": "true" }, short(value));
  const range = make("input", { type: "range", min: low, max: high, step, "aria-label": name });
  range.value = value;
  range.addEventListener("input", () => {
    const now = Number(Number(range.value).toPrecision(10));
    shown.textContent = short(now);
    act(now);
  });
  return make("label", {}, `${name} `, range, shown);
}

function choice(name, options, value, act) {
  const list = make("select", {}, ...options.map((option) => make("option", {}, String(option))));
  list.selectedIndex = options.indexOf(value);
  list.addEventListener("change", () => act(options[list.selectedIndex]));
  return make("label", {}, `${name} `, list);
}

// Makes a group with a title, controls, a picture, and a place for news that a screen reader reads.
function frame(host, title) {
  const news = make("div", { class: "unseen", role: "status" });
  const controls = make("div", { class: "controls" });
  const picture = make("div", { class: "picture" });
  const group = make("div", { role: "group", "aria-label": title, class: "frame" });
  group.append(make("p", { class: "title" }, title), controls, picture, news);
  host.replaceChildren(group);
  return { controls, picture, say: (words) => { news.textContent = words; } };
}

// Reads a text such as "x1=2, w1=-3" and returns the numbers by name.
function starts(text = "") {
  const pairs = text.split(",").filter((part) => part.trim()).map((part) => part.split("="));
  return Object.fromEntries(pairs.map(([name, number]) => [name.trim(), Number(number)]));
}

// Returns the graph of a formula at these numbers: its nodes, operands first, each with a name.
function graph(formula, numbers) {
  const values = {};
  for (const name of formula.names) {
    values[name] = new Value(numbers[name]);
    values[name].label = name;
  }
  const root = formula.compute(values);
  root.label ||= "result";
  const nodes = root.order();
  let count = 0;
  for (const node of nodes) node.label ||= node.operands.length ? `v${++count}` : short(node.data);
  return { root, nodes, values };
}

const told = (node) => {
  const names = node.operands.map((operand) => operand.label);
  if (names.length === 2) return `${names[0]} ${node.op} ${names[1]}`;
  return node.op.startsWith("^") ? `${names[0]}${node.op}` : `${node.op}(${names[0]})`;
};

const BOX = { width: 140, height: 54, across: 174, down: 66 };

// Returns the graph as SVG. `known` returns whether a node's number is known at this step, `marked`
// is the node of this step.
function draw(nodes, known = () => true, gradients = true, marked = null) {
  const depth = new Map(), rows = new Map(), columns = [];
  const root = nodes.at(-1);
  // A leaf stands just before its first use.
  for (const node of nodes) {
    const before = node.operands.map((operand) => depth.get(operand) + 1);
    depth.set(node, Math.max(0, ...before));
  }
  for (const node of [...nodes].reverse()) {
    const uses = nodes.filter((other) => other.operands.includes(node));
    if (node !== root) depth.set(node, Math.min(...uses.map((use) => depth.get(use))) - 1);
  }
  for (const node of nodes) (columns[depth.get(node)] ??= []).push(node);
  const tallest = Math.max(...columns.map((column) => column.length));
  columns.forEach((column) => {
    const start = (tallest - column.length) / 2;
    column.forEach((node, i) => rows.set(node, start + i));
  });
  const place = (node) => [10 + depth.get(node) * BOX.across, 10 + rows.get(node) * BOX.down];
  const width = 20 + (columns.length - 1) * BOX.across + BOX.width;
  const height = 20 + (tallest - 1) * BOX.down + BOX.height;
  const parts = [];
  for (const node of nodes) {
    const [x1, y1] = place(node);
    for (const operand of node.operands) {
      const [x, y] = place(operand);
      const from = [x + BOX.width, y + BOX.height / 2], to = [x1, y1 + BOX.height / 2];
      parts.push(`<path class="edge" d="M${from} C${from[0] + 24},${from[1]} ${to[0] - 24},${to[1]} ${to}"/>`);
    }
  }
  for (const node of nodes) {
    const [x, y] = place(node);
    const line = (words, down, look = "") =>
      `<text class="${look}" x="${x + 8}" y="${y + down}">${safe(words)}</text>`;
    const name = node.operands.length ? `${node.label} = ${told(node)}` : node.label;
    const cut = name.length > 17 ? `${name.slice(0, 16)}…` : name;
    parts.push(`<rect class="node${node === marked ? " marked" : ""}${node.operands.length ? "" : " leaf"}"
      x="${x}" y="${y}" width="${BOX.width}" height="${BOX.height}" rx="6"/>`,
      line(cut, 15, "name"), line(`data ${known(node) ? short(node.data) : "?"}`, 31, "data"),
      gradients ? line(`grad ${short(node.grad)}`, 46, "grad") : "");
  }
  const words = nodes.map((node) => inWords(node, known(node), gradients)).join("; ");
  return `<div class="wide" tabindex="0"><svg class="graph" role="img" aria-label="${safe(`Graph of ${root.label}: ${words}`)}"
    viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">${parts.join("")}</svg></div>`;
}

function inWords(node, known, gradients) {
  const from = node.operands.length ? ` = ${told(node)}` : "";
  const grad = gradients ? `, grad ${short(node.grad)}` : "";
  return `${node.label}${from}: data ${known ? short(node.data) : "?"}${grad}`;
}
