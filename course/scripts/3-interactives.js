// The three interactives: a stepper, a playground, and a network that trains.

function stepper(host, settings) {
  const formula = read(settings.formula);
  const numbers = starts(settings.start);
  const { controls, picture, say } = frame(host, settings.title ?? "Step forward and backward");
  let steps = [], position = 0;

  // Runs both passes and records all steps, each with the gradients after it.
  function run() {
    const { root, nodes } = graph(formula, numbers);
    const inner = nodes.filter((node) => node.operands.length);
    const leaves = nodes.filter((node) => !node.operands.length);
    const given = leaves.map((node) => `${node.label} = ${short(node.data)}`).join(", ");
    steps = [{ says: `The leaves are given: ${given}.`, marked: null, done: 0 }];
    for (const node of inner) {
      steps.push({ says: `${node.label} is ${told(node)}, and that gives ${short(node.data)}.`,
        marked: node, done: steps.length });
    }
    root.grad = 1;
    steps.push({ says: `Backward starts at the end: the gradient of ${root.label} is 1.`,
      marked: root, done: inner.length });
    for (const step of steps.slice(0, -1)) step.grads = nodes.map(() => 0);
    steps.at(-1).grads = nodes.map((node) => node.grad);
    for (const node of [...inner].reverse()) {
      const before = nodes.map((each) => each.grad);
      node.back();
      const changed = nodes.flatMap((each, i) => (each.grad === before[i] ? [] :
        [`${each.label} goes from ${short(before[i])} to ${short(each.grad)}`]));
      const effect = changed.length ? changed.join(", ") : "nothing changes, it was multiplied by 0";
      steps.push({ says: `${node.label} passes its gradient, ${short(node.grad)}, on: ${effect}.`,
        marked: node, done: inner.length, grads: nodes.map((each) => each.grad) });
    }
    for (const step of steps) Object.assign(step, { nodes, inner });
  }

  function show(spoken = "") {
    position = Math.max(0, Math.min(steps.length - 1, position));
    const { nodes, inner, grads, done, marked, says } = steps[position];
    nodes.forEach((node, i) => { node.grad = grads[i]; });
    const known = (node) => !node.operands.length || inner.indexOf(node) < done;
    const phase = position > inner.length ? "backward" : "forward";
    const words = `Step ${position + 1} of ${steps.length}, ${phase}. ${says}`;
    picture.innerHTML = `<p class="says">${safe(words)}</p>${draw(nodes, known, true, marked)}`;
    arrows(picture.querySelector(".cg-frame"));
    enable(buttons[0], position > 0);
    enable(buttons[1], position > 0);
    enable(buttons[2], position < steps.length - 1);
    enable(buttons[3], position < steps.length - 1);
    say(spoken + words);
  }
  const go = (to) => { position = to(); show(); };
  const buttons = [
    button("First", () => go(() => 0)), button("◀ Back", () => go(() => position - 1)),
    button("Next ▶", () => go(() => position + 1)), button("Last", () => go(() => steps.length - 1)),
  ];
  controls.append(...buttons, ...formula.names.map((name) =>
    slider(name, numbers[name], numbers[name] - 10, numbers[name] + 10, 0.1, (now) => {
      numbers[name] = now;
      run();
      show(`${name} is ${short(now)}. `);
    })));
  // On a slide, the deck's keys step first.
  host.closest(".slide")?.addEventListener("step", (event) => {
    const to = position + event.detail;
    if (to < 0 || to >= steps.length) return;
    event.preventDefault();
    go(() => to);
  });
  addEventListener("beforeprint", () => go(() => steps.length - 1));
  run();
  show();
  say("");
}

function playground(host, settings) {
  const { controls, picture, say } = frame(host, settings.title ?? "Your own formula");
  const known = starts(settings.start);
  let formula, numbers, before = null, gradients = true;
  const field = make("input", { type: "text", spellcheck: "false", autocomplete: "off" });
  const problem = make("p", { class: "problem", id: `problem-${Math.random().toString(36).slice(2)}` });
  const sliders = make("div", { class: "controls" });
  field.setAttribute("aria-describedby", problem.id);
  field.value = settings.formula;
  const box = make("input", { type: "checkbox" });
  box.checked = true;
  box.addEventListener("change", () => { gradients = box.checked; show(`The gradients are ${gradients ? "there" : "left out"}.`); });
  controls.append(make("label", { class: "formula-field" }, "Formula ", field),
    make("label", {}, box, " Gradients"));
  picture.before(problem, sliders);

  function understand() {
    try {
      const found = read(field.value);
      if (!found.names.length) throw new Error("there is no name in it that could move");
      if (found.names.length > 8) throw new Error("it has more than eight names");
      formula = found;
    } catch (error) {
      problem.textContent = `✗ ${error.message}. The picture shows the last formula that could be read.`;
      field.setAttribute("aria-invalid", "true");
      say(problem.textContent);
      return;
    }
    problem.textContent = "";
    field.removeAttribute("aria-invalid");
    numbers = Object.fromEntries(formula.names.map((name) => [name, known[name] ?? 1]));
    sliders.replaceChildren(...formula.names.map((name) =>
      slider(name, numbers[name], numbers[name] - 10, numbers[name] + 10, 0.1, (now) => move(name, now))));
    before = null;
    show("");
  }

  function move(name, now) {
    const step = now - numbers[name];
    const old = before;
    numbers[name] = known[name] = now;
    const result = show("");
    const prediction = old.grads[name] * step;
    const words = gradients ? ` Its gradient had promised about ${short(old.grads[name])} · ${short(step)} = ${short(prediction)}.` : "";
    say(`${name} is ${short(now)}: the result went from ${short(old.result)} to ${short(result)}, by ${short(result - old.result)}.${words}`);
    picture.querySelector(".says").textContent = `result = ${short(result)}. It changed by ${short(result - old.result)}.${words}`;
  }

  function show(words) {
    const { root, nodes, values } = graph(formula, numbers);
    root.backward();
    before = { result: root.data, grads: Object.fromEntries(formula.names.map((name) => [name, values[name].grad])) };
    picture.innerHTML = `<p class="says">result = ${short(root.data)}.</p>${draw(nodes, () => true, gradients)}`;
    arrows(picture.querySelector(".cg-frame"));
    if (words) say(words);
    return root.data;
  }
  field.addEventListener("input", understand);
  understand();
}

// Returns a function that draws random numbers from 0 to 1, always the same ones for a seed: a
// linear congruential generator, modulus 2 to the 32.
function dice(seed) {
  let state = (seed * 2654435761 + 12345) >>> 0;
  return () => (state = (Math.imul(1664525, state) + 1013904223) >>> 0) / 2 ** 32;
}

const DATA = {
  xor: () => [[[0, 0], -1], [[0, 1], 1], [[1, 0], 1], [[1, 1], -1]],
  moons: () => Array.from({ length: 24 }, (_, i) => {
    const angle = (Math.PI * (i >> 1)) / 11;
    return i % 2 ? [[1 - Math.cos(angle), 0.5 - Math.sin(angle)], -1]
      : [[Math.cos(angle), Math.sin(angle)], 1];
  }),
  circle: () => Array.from({ length: 24 }, (_, i) => {
    const angle = (Math.PI * (i >> 1)) / 6, radius = i % 2 ? 1 : 0.4;
    return [[radius * Math.cos(angle), radius * Math.sin(angle)], i % 2 ? -1 : 1];
  }),
};

function trainer(host, settings) {
  const { controls, picture, say } = frame(host, settings.title ?? "A network that trains");
  const now = { data: settings.data ?? "xor", hidden: 4, rate: 0.3, seed: 1 };
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  let points, layers, losses, running = false, stop = 0;

  function reset() {
    running = false;
    points = DATA[now.data]();
    losses = [];
    const random = dice(now.seed);
    const layer = (inputs, outputs) => Array.from({ length: outputs }, () => ({
      w: Array.from({ length: inputs }, () => new Value(2 * random() - 1)), b: new Value(0),
    }));
    layers = now.hidden ? [layer(2, now.hidden), layer(now.hidden, 1)] : [layer(2, 1)];
    show();
    say(`A new network, ${setting()}. ${summary()}`);
  }
  const neuron = ({ w, b }, x) => w.reduce((sum, each, i) => sum.add(each.mul(x[i])), b).tanh();
  const answer = (x) => layers.reduce((from, layer) => layer.map((each) => neuron(each, from)), x)[0];
  // The same answer as a plain number, without a graph, for the picture.
  const guess = (x) => layers.reduce((from, layer) => layer.map(({ w, b }) =>
    Math.tanh(w.reduce((sum, each, i) => sum + each.data * from[i], b.data))), x)[0];

  function train() {
    const all = layers.flat().flatMap(({ w, b }) => [...w, b]);
    let total = new Value(0);
    for (const [x, target] of points) {
      const inputs = x.map((number) => new Value(number));
      total = total.add(answer(inputs).sub(new Value(target)).pow(2));
    }
    const loss = total.mul(new Value(1 / points.length));
    for (const parameter of all) parameter.grad = 0;
    loss.backward();
    for (const parameter of all) parameter.data -= now.rate * parameter.grad;
    losses.push(loss.data);
  }
  const right = () => points.filter(([x, target]) => guess(x) > 0 === target > 0).length;
  const setting = () => `${now.data}, ${now.hidden || "no"} hidden units, learning rate ${now.rate}, seed ${now.seed}`;
  const summary = () => `${losses.length ? `Epoch ${losses.length}, loss ${losses.at(-1).toFixed(4)}` : "Not trained yet"}, ${right()} of ${points.length} right.`;

  function show() {
    picture.innerHTML = `<p class="says">${safe(summary())}</p><div class="charts">${network()}${plane()}${curve()}</div>`;
    step.setAttribute("aria-disabled", String(running));
    run.textContent = running ? "Pause" : "Run ▶";
  }
  function turn() {
    if (!running) return;
    const until = performance.now() + (calm.matches ? 200 : 14);
    while (performance.now() < until && losses.length < stop && running) {
      train();
      if (losses.at(-1) < 0.001 || !Number.isFinite(losses.at(-1))) running = false;
    }
    if (losses.length >= stop) running = false;
    show();
    if (running) setTimeout(turn, calm.matches ? 800 : 30);
    else say(`Stopped. ${summary()}`);
  }
  const step = button("Step: 1 epoch", () => { train(); show(); say(summary()); });
  const run = button("Run ▶", () => {
    running = !running;
    stop = losses.length + 2000;
    say(running ? "Training." : `Paused. ${summary()}`);
    if (running) turn();
    show();
  });

  function network() {
    const sizes = [2, ...layers.map((layer) => layer.length)];
    const place = (column, row) => [34 + column * 90, 130 + (row - (sizes[column] - 1) / 2) * 27];
    const largest = Math.max(...layers.flat().flatMap(({ w }) => w.map((each) => Math.abs(each.data))));
    const lines = layers.flatMap((layer, k) => layer.flatMap(({ w }, j) => w.map((each, i) =>
      `<path class="${each.data > 0 ? "plus" : "minus"}" stroke-width="${Math.max(0.4, (6 * Math.abs(each.data)) / largest).toFixed(2)}"
        d="M${place(k, i)}L${place(k + 1, j)}"/>`)));
    const circles = sizes.flatMap((size, k) => Array.from({ length: size }, (_, j) => {
      const [x, y] = place(k, j);
      return `<circle class="neuron" cx="${x}" cy="${y}" r="9"/>`;
    }));
    const words = layers.map((layer, k) => `layer ${k + 1} has the weights ${layer.flatMap(({ w }) =>
      w.map((each) => each.data.toFixed(2))).join(", ")}`).join("; ");
    return chart(`Network ${sizes.join(" to ")}: ${words}`, "Network",
      `${lines.join("")}${circles.join("")}<text x="130" y="254" text-anchor="middle">━ positive  ╌ negative</text>`);
  }
  function plane() {
    const reach = [0, 1].map((i) => {
      const all = points.map(([x]) => x[i]), low = Math.min(...all), high = Math.max(...all);
      return [low - 0.25 * (high - low), high + 0.25 * (high - low)];
    });
    const fine = 22, side = 190 / fine, squares = { above: [], below: [] };
    const at = (k, i) => reach[k][0] + ((i + 0.5) / fine) * (reach[k][1] - reach[k][0]);
    const grid = Array.from({ length: fine }, (_, j) => Array.from({ length: fine }, (_, i) => guess([at(0, i), at(1, j)])));
    let border = "";
    grid.forEach((row, j) => row.forEach((value, i) => {
      const x = 35 + i * side, y = 225 - (j + 1) * side, above = value > 0;
      squares[above ? "above" : "below"].push(`<rect x="${x.toFixed(1)}" y="${y.toFixed(1)}" width="${side + 0.2}" height="${side + 0.2}"/>`);
      if (i + 1 < fine && row[i + 1] > 0 !== above) border += `M${(x + side).toFixed(1)},${y.toFixed(1)}v${side}`;
      if (j + 1 < fine && grid[j + 1][i] > 0 !== above) border += `M${x.toFixed(1)},${y.toFixed(1)}h${side}`;
    }));
    const spot = ([x, target]) => {
      const [across, up] = x.map((one, k) => (one - reach[k][0]) / (reach[k][1] - reach[k][0]));
      const cx = 35 + 190 * across, cy = 225 - 190 * up;
      return target > 0 ? `<circle class="one" cx="${cx.toFixed(1)}" cy="${cy.toFixed(1)}" r="5.5"/>`
        : `<path class="other" d="M${cx.toFixed(1)},${(cy - 6.5).toFixed(1)}l6.2,11h-12.4z"/>`;
    };
    const heard = points.length > 4 ? `${right()} of ${points.length} points on their side`
      : points.map(([x]) => `${x.join(" xor ")}: ${guess(x).toFixed(3)}`).join("; ");
    return chart(`The network's answers: ${heard}`, "Border",
      `<g class="below">${squares.below.join("")}</g><g class="above">${squares.above.join("")}</g><path class="border" d="${border}"/>
       ${points.map(spot).join("")}<text x="130" y="254" text-anchor="middle">● target 1   ▲ target −1   ━ border</text>`);
  }
  function curve() {
    if (!losses.length) return chart("Loss by epoch: no epoch yet", "Loss by epoch", "");
    const top = Math.max(...losses, 0.01), last = Math.max(losses.length - 1, 1);
    const every = Math.max(1, Math.ceil(losses.length / 200));
    const shown = losses.map((loss, i) => [i, loss]).filter(([i]) => i % every === 0 || i === losses.length - 1);
    const line = shown.map(([i, loss]) => `${(35 + (190 * i) / last).toFixed(1)},${(225 - (190 * loss) / top).toFixed(1)}`);
    return chart(`Loss by epoch: from ${losses[0].toFixed(4)} to ${losses.at(-1).toFixed(4)} in epoch ${losses.length}`, "Loss by epoch",
      `<path class="axis" d="M35,35V225H225"/><polyline class="loss" points="${line.join(" ")}"/>
       <text x="30" y="39" text-anchor="end">${short(Number(top.toPrecision(2)))}</text><text x="30" y="229" text-anchor="end">0</text>
       <text x="130" y="254" text-anchor="middle">epoch 1 to ${losses.length}</text>`);
  }
  const chart = (about, title, parts) => `<svg class="chart-small" role="img" aria-label="${safe(about)}" viewBox="0 0 260 264" width="260" height="264">
    <text class="name" x="130" y="20" text-anchor="middle">${title}</text>${parts}</svg>`;

  const set = (name, fresh = true) => (value) => {
    now[name] = value;
    if (fresh) reset();
    else say(`The learning rate is ${value} from now on.`);
  };
  controls.append(step, run, button("Reset", reset),
    choice("Data", Object.keys(DATA), now.data, set("data")),
    slider("Hidden units", now.hidden, 0, 8, 1, set("hidden")),
    choice("Learning rate", [0.01, 0.03, 0.1, 0.3, 1], now.rate, set("rate", false)),
    slider("Seed", now.seed, 0, 99, 1, set("seed")));
  reset();
  say("");
}
