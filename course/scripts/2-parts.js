// What the interactives share: controls and the drawing of a graph.

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
  if (names.length === 2) return `${names[0]} ${node.op.replace("*", "·").replace("-", "−")} ${names[1]}`;
  return node.op.startsWith("**") ? `${names[0]}^${node.op.slice(2)}` : `${node.op}(${names[0]})`;
};

// Returns the local derivative of a node by one of its operands.
function local(node, slot) {
  const numbers = node.operands.map((operand) => operand.data);
  if (node.op === "relu") return numbers[0] > 0 ? 1 : 0;
  const step = 1e-5 * Math.max(1, Math.abs(numbers[slot]));
  const at = (by) => operate(node.op, numbers.map((number, i) => number + by * (i === slot)));
  return Number(((at(step) - at(-step)) / (2 * step)).toPrecision(8));
}

const BOX = { width: 108, height: 64 };

// Places the nodes: a column (a row, if the drawing goes down) for each step to the root, and
// and across it a lane. A result is in the middle of its operands.
function lanes(nodes) {
  const depth = new Map(), lane = new Map();
  const root = nodes.at(-1);
  for (const node of nodes) {
    depth.set(node, Math.max(0, ...node.operands.map((operand) => depth.get(operand) + 1)));
  }
  // A leaf stands just before its first use.
  for (const node of [...nodes].reverse()) {
    const uses = nodes.filter((other) => other.operands.includes(node));
    if (node !== root) depth.set(node, Math.min(...uses.map((use) => depth.get(use))) - 1);
  }
  // A leaf that is used again keeps a lane to itself, in which its long arrow runs.
  const after = (few) => Math.max(-1, ...few.map((node) => lane.get(node))) + 1;
  for (const node of nodes) {
    const column = [...lane.keys()].filter((other) => depth.get(other) === depth.get(node));
    const around = node.operands.map((operand) => lane.get(operand));
    const often = nodes.filter((other) => other.operands.includes(node)).length > 1;
    const middle = around.reduce((a, b) => a + b, 0) / around.length;
    const isFree = around.length && column.every((other) => Math.abs(lane.get(other) - middle) >= 1);
    lane.set(node, isFree ? middle : after(often ? [...lane.keys()] : column));
  }
  return { depth, lane, lanes: Math.max(...lane.values()) + 1, columns: depth.get(root) + 1 };
}

// Returns the graph as HTML, from top to bottom on a narrow screen. `known` returns whether a
// node's number is known at this step, `marked` is the node of this step. What has this HTML in
// the page calls `arrows`.
function draw(nodes, known = () => true, gradients = true, marked = null) {
  const down = innerWidth < 600;
  const { depth, lane, ...number } = lanes(nodes);
  const turned = (x, y) => (down ? [y, x] : [x, y]);
  const [long, broad] = turned(BOX.width, BOX.height);
  const gap = down ? 38 : 56, column = long + gap + 30 + 26, across = broad + 14, margin = 14;
  // The centre of a node's box, and that of the circle with its operation.
  const along = (node) => margin + long / 2 + depth.get(node) * column;
  const side = (node) => margin + broad / 2 + lane.get(node) * across;
  const sign = (node) => (node.op.length < 4 ? 30 : node.op.length * 8 + 10);
  const rim = (node) => (down ? 15 : sign(node) / 2);
  const circle = (node) => along(node) - long / 2 - 26 - rim(node);
  const [width, height] = turned(2 * margin + (number.columns - 1) * column + long,
    2 * margin + (number.lanes - 1) * across + broad);
  const taken = nodes.map((node) => [...turned(along(node), side(node)), BOX.width, BOX.height]);
  for (const node of nodes) if (node.op) taken.push([...turned(circle(node), side(node)), sign(node), 30]);
  const ways = [], labels = [], boxes = [];

  function way(name, points, gradient, label) {
    const stroke = Math.min(1.3 + 1.5 * Math.log2(1 + Math.abs(gradient)), 8), half = 3 + stroke / 2;
    const [tip, base] = [points.at(-1), points.at(-2)];
    const head = [[base[0], base[1] - half], tip, [base[0], base[1] + half]];
    const [[x0, y0], [x1, y1]] = [points.at(0), points.at(1)];
    const middle = (x1 + base[0]) / 2;
    const curve = `M${turned(x0, y0)}L${turned(x1, y1)}C${turned(middle, y1)} ${turned(middle, base[1])} ${turned(...base)}`;
    ways.push(`<g data-way="${name}"><path class="cg-arrow" d="${curve}" style="stroke-width:${stroke.toFixed(1)}"/>
      <polygon class="cg-head" points="${head.map((point) => turned(...point)).join(" ")}"/></g>`);
    if (!label) return;
    const size = [label.length * 6.7 + 8, 16];
    for (const t of [0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1]) {
      const ease = t * t * (3 - 2 * t);
      const [x, y] = turned(x1 + (base[0] - x1) * t, y1 + (base[1] - y1) * ease);
      if (taken.some(([u, v, w, h]) => Math.abs(x - u) < (w + size[0]) / 2 && Math.abs(y - v) < (h + size[1]) / 2)) continue;
      taken.push([x, y, ...size]);
      labels.push(`<g data-way="${name}"><rect class="cg-pill" x="${x - size[0] / 2}" y="${y - 8}" width="${size[0]}" height="16" rx="4"/>
        <text class="cg-local" x="${x}" y="${y + 4}" text-anchor="middle">${label}</text></g>`);
      return;
    }
  }
  const rect = (look, x, y, w, h, round) =>
    `<rect class="${look}" x="${x - w / 2}" y="${y - h / 2}" width="${w}" height="${h}" rx="${round}"/>`;
  const text = (look, x, y, anchor, words) =>
    `<text class="${look}" x="${x}" y="${y}" text-anchor="${anchor}">${safe(words)}</text>`;

  nodes.forEach((node, k) => {
    node.operands.forEach((operand, slot) => {
      const same = node.operands.filter((other) => other === operand).length - 1;
      const apart = same * (slot - 0.5);
      const slope = known(node) ? local(node, slot) : 0;
      const start = along(operand) + long / 2, tip = circle(node) - rim(node), y = side(operand) + apart * 36;
      const bend = Math.max(start, tip - gap);
      way(`${k}.${slot}`, [[start, y], [bend, y], [tip - 8 + same, side(node) + apart * 16], [tip + same, side(node) + apart * 16]],
        gradients ? slope * node.grad : 0, known(node) && nodes.length <= 24 ? short(slope) : "");
    });
    const [x, y] = turned(along(node), side(node));
    if (node.op) {
      const out = circle(node) + rim(node), end = along(node) - long / 2;
      way(String(k), [[out, side(node)], [out, side(node)], [end - 8, side(node)], [end, side(node)]], gradients ? node.grad : 0);
      const [u, v] = turned(circle(node), side(node));
      boxes.push(`<g>${rect("cg-op", u, v, sign(node), 30, 15)}${text("cg-label", u, v + 4.5, "middle", node.op)}</g>`);
    }
    const tag = [node.operands.length ? "" : "leaf", node === nodes.at(-1) ? "root" : ""].filter(Boolean).join(", ");
    const room = 12 - (tag ? tag.length + 1 : 0), left = x - BOX.width / 2 + 10, right = x + BOX.width / 2 - 10, top = y - 14;
    const cut = node.label.length > room ? `${node.label.slice(0, room - 1)}…` : node.label;
    const row = (word, words, down, look) => `<path class="cg-${word}" d="M${left - 5},${top + down - 10}v13"/>
      ${text("cg-quiet", left, top + down, "start", word)}${text(look, right, top + down, "end", words)}`;
    boxes.push(`<g data-node="${k}"><title>${safe(inWords(node, known(node), gradients))}</title>
      ${rect("cg-value", x, y, BOX.width, BOX.height, 6)}${node.operands.length ? "" : rect("cg-inner", x, y, BOX.width - 6, BOX.height - 6, 4)}
      ${node === marked ? rect("cg-mark", x, y, BOX.width + 9, BOX.height + 9, 9) : ""}
      ${text("cg-label", left, top, "start", cut)}${text("cg-quiet cg-tag", right, top, "end", tag)}
      ${row("data", known(node) ? short(node.data) : "?", 18, "cg-now")}${gradients ? row("grad", short(node.grad), 36, "") : ""}</g>`);
  });
  const data = nodes.map((node) => [node.label, known(node) ? node.data : null, gradients ? node.grad : null,
    node.op, node.operands.map((operand) => nodes.indexOf(operand)), known(node) ? node.operands.map((_, slot) => local(node, slot)) : []]);
  const words = nodes.map((node) => inWords(node, known(node), gradients)).join("; ");
  return `<div class="cg-frame"><div class="cg-box${marked ? " cg-steps" : ""}" tabindex="0">
    <svg class="cg" role="img" aria-label="${safe(`Graph of ${nodes.at(-1).label}: ${words}`)}" data-nodes="${safe(JSON.stringify(data))}"
    viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" style="--w:${width};display:block;max-width:100%;min-width:${0.7 * width}px;height:auto">
    <rect class="cg-card" width="${width}" height="${height}" rx="6" style="stroke:none"/>${ways.join("")}${labels.join("")}${boxes.join("")}</svg></div></div>`;
}

function inWords(node, known, gradients) {
  const from = node.operands.length ? ` = ${told(node)}` : "";
  const grad = gradients ? `, grad ${short(node.grad)}` : "";
  return `${node.label}${from}: data ${known ? short(node.data) : "?"}${grad}`;
}
