// Makes the drawing of a graph answer: a chosen value lights its paths to the root, and a handle
// nudges it. Notebooks and the lesson use this file.

const OPERATIONS = {
  "+": (a, b) => a + b, "-": (a, b) => (b === undefined ? -a : a - b), "*": (a, b) => a * b,
  "/": (a, b) => a / b, neg: (a) => -a, exp: Math.exp, log: Math.log, sin: Math.sin, cos: Math.cos,
  sqrt: Math.sqrt, tanh: Math.tanh, relu: (a) => Math.max(a, 0),
  sigmoid: (a) => (1 + Math.tanh(a / 2)) / 2,
};
const operate = (op, numbers) => (op.startsWith("**") ? numbers[0] ** Number(op.slice(2))
  : OPERATIONS[op.toLowerCase()](...numbers));

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function short(number) {
  if (!Number.isFinite(number)) return String(number);
  const size = Math.abs(number);
  if (size !== 0 && (size < 1e-4 || size >= 1e6)) return number.toExponential(3);
  return String(Number(number.toPrecision(4)));
}

const PATHS = 4; // so many are written out; the others are counted
const FACTORS = 8; // a longer path is written as its product

// Brings a part of a drawing into sight in the box that scrolls, and leaves the page where it is.
function follow(part) {
  const box = part.closest(".cg-box");
  const [around, at] = [box, part].map((it) => it.getBoundingClientRect());
  box.scrollBy(at.left + at.width / 2 - around.left - around.width / 2,
    at.top + at.height / 2 - around.top - around.height / 2);
}

// JupyterLab takes arrow keys and Enter for itself, unless the focused element says otherwise.
window.cgKeys ??= (addEventListener("keydown", ({ target, ctrlKey, metaKey, altKey, shiftKey }) => {
  if (!target.closest?.(".cg-frame")) return;
  target.toggleAttribute("data-lm-suppress-shortcuts", !(ctrlKey || metaKey || altKey || shiftKey));
}, true), true);

function arrows(frame) {
  const pictures = [...frame.querySelectorAll("svg.cg")];
  const all = (selector) => [...frame.querySelectorAll(selector)];
  const followMarks = () => all(".cg-mark").forEach(follow);
  followMarks();
  requestAnimationFrame(followMarks); // where the drawing was not on the page before
  if (!pictures[0].dataset.nodes) return;

  const nodes = JSON.parse(pictures[0].dataset.nodes).map(
    ([name, data, grad, op, operands, locals]) => ({ name, data, grad, op, operands, locals }));
  const root = nodes.length - 1;
  if (nodes.some(({ operands }, k) => operands.some((i) => i >= k))) return; // a circle
  const uses = nodes.map(() => []);
  nodes.forEach(({ operands }, k) => operands.forEach((i, slot) => uses[i].push([k, slot])));
  // Of each node: the number of paths to the root, and the sum of their products.
  const count = nodes.map(() => 0), total = nodes.map(() => 0);
  count[root] = total[root] = 1;
  for (let i = root - 1; i >= 0; i--) {
    for (const [k, slot] of uses[i]) {
      count[i] += count[k];
      total[i] += (nodes[k].locals[slot] ?? NaN) * total[k];
    }
  }

  const line = make("p", { role: "status" });
  const handle = make("input", { type: "range", min: -0.1, max: 0.1, step: 0.001 });
  const nudge = make("label", {});
  const moved = make("p", { role: "status" });
  frame.append(make("div", { class: "cg-below" }, line, nudge, moved));
  const home = frame.closest(".jp-OutputArea-output") ?? frame.parentElement; // outlives this drawing
  let chosen = null;

  function firstPaths(from) {
    const found = [];
    (function go(at, factors) {
      if (found.length === PATHS) return;
      if (at === root) found.push(factors);
      for (const [k, slot] of uses[at]) go(k, [...factors, nodes[k].locals[slot]]);
    })(from, []);
    return found;
  }
  const factor = (number) => (number < 0 ? `(${short(number)})` : short(number));
  const product = (factors) => (factors.length > FACTORS
    ? factor(factors.reduce((a, b) => a * b, 1)) : factors.map(factor).join(" × "));

  function inWords(i) {
    const { name, grad } = nodes[i], end = nodes[root].name;
    if (i === root) return `${end} is where all paths end. Its gradient is ${short(grad)}.`;
    const ways = count[i] === 1 ? "one path" : `${count[i].toLocaleString("en")} paths`;
    const start = `From ${name} to ${end}, ${ways}: `;
    if (Number.isNaN(total[i])) return `${start}an arrow on the way has no number.`;
    const more = count[i] - PATHS;
    const sum = firstPaths(i).map(product).join(" + ")
      + (more > 0 ? ` + ${more.toLocaleString("en")} more` : "");
    const result = short(total[i]);
    const stated = sum === result || sum === `(${result})` ? result : `${sum} = ${result}`;
    if (grad === null) return `${start}${stated}.`;
    const near = Math.abs(grad - total[i]) <= 1e-6 * Math.max(1, Math.abs(grad));
    if (near) return `${start}${stated}, and the gradient says ${short(grad)}.`;
    return `${start}${stated}, ${grad === 0 ? "and the gradient is 0 so far" : `but the gradient says ${short(grad)}`}.`;
  }

  function reached(from) {
    const found = new Set([from]);
    for (let k = from + 1; k <= root; k++) if (nodes[k].operands.some((i) => found.has(i))) found.add(k);
    return found;
  }

  function choose(i) {
    chosen = home.cgChosen = i;
    const lit = new Set(i === null ? [] : reached(i));
    for (const part of all("[data-node]")) {
      part.setAttribute("aria-pressed", String(Number(part.dataset.node) === i));
      part.classList.toggle("cg-lit", lit.has(Number(part.dataset.node)));
    }
    for (const part of all("[data-way]")) {
      const [k, slot] = part.dataset.way.split(".").map(Number);
      const begins = slot === undefined ? k : nodes[k].operands[slot];
      part.classList.toggle("cg-lit", k !== i && lit.has(k) && (slot === undefined || lit.has(begins)));
    }
    for (const picture of pictures) picture.classList.toggle("cg-chosen", i !== null);
    line.textContent = i === null ? HINT : inWords(i);
    const can = i !== null && i !== root && !Number.isNaN(total[i])
      && [...reached(i)].every((k) => nodes[k].data !== null);
    nudge.replaceChildren(...(can ? [`Nudge ${nodes[i].name} `, handle] : []));
    handle.value = 0;
    move();
  }
  const HINT = all("[data-way] .cg-local").length
    ? `On an arrow stands its local derivative; it is wider where more gradient passes. Choose a value to see its paths to ${nodes[root].name}.`
    : `Choose a value to see its paths to ${nodes[root].name}.`;

  // Shows the numbers with the chosen value nudged.
  function move() {
    const by = Number(handle.value), now = nodes.map(({ data }) => data);
    const changed = new Set(chosen === null || !by ? [] : reached(chosen));
    for (const k of changed) {
      now[k] = k === chosen ? now[k] + by : operate(nodes[k].op, nodes[k].operands.map((i) => now[i]));
    }
    for (const part of all("[data-node] .cg-now")) {
      part.cgText ??= part.textContent;
      const k = Number(part.closest("[data-node]").dataset.node);
      part.textContent = changed.has(k) ? short(now[k]) : part.cgText;
    }
    const change = now[root] - nodes[root].data, end = nodes[root].name;
    moved.textContent = !handle.isConnected ? "" : by
      ? `${nodes[chosen].name} moves by ${short(by)}, ${end} by ${short(change)}: ${short(change)} / ${factor(by)} = ${short(change / by)}`
      : "";
    handle.setAttribute("aria-valuetext", short(by));
  }
  handle.addEventListener("input", move);

  const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
  for (const picture of pictures) {
    // Its nodes are buttons, of which the Tab key reaches one and the arrow keys the others.
    picture.setAttribute("role", "group");
    picture.classList.add("cg-answers");
    picture.closest(".cg-box").removeAttribute("tabindex");
    const parts = [...picture.querySelectorAll("[data-node]")];
    const reach = (i) => parts.forEach((part, k) => part.setAttribute("tabindex", k === i ? 0 : -1));
    parts.forEach((part) => part.setAttribute("role", "button"));
    reach(0);
    picture.addEventListener("click", ({ target }) => {
      const part = target.closest("[data-node]");
      if (!part) return;
      const i = Number(part.dataset.node);
      reach(i);
      choose(i === chosen ? null : i);
    });
    picture.addEventListener("keydown", (event) => {
      const i = Number(event.target.closest("[data-node]").dataset.node);
      if (STEPS[event.key]) {
        const next = parts[Math.max(0, Math.min(root, i + STEPS[event.key]))];
        reach(Number(next.dataset.node));
        next.focus({ preventScroll: true });
        follow(next);
      } else if (event.key === "Enter" || event.key === " ") choose(i === chosen ? null : i);
      else if (event.key === "Escape" && chosen !== null) choose(null);
      else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }
  choose(home.cgChosen < nodes.length ? home.cgChosen : null);
}
