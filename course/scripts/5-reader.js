// A trained network that reads a digit which somebody draws, on the engine above.

const calmly = matchMedia("(prefers-reduced-motion: reduce)");

// Returns how much ink is on each of 8 by 8 pixels, as course/digits.py computes it.
function pixels(strokes) {
  const points = strokes.flat(), side = 8, pen = 0.62, room = side - 2 * 0.9;
  if (!points.length) return Array(side * side).fill(0);
  const [xs, ys] = [0, 1].map((k) => points.map((point) => point[k]));
  const [left, right, top, bottom] =
    [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const scale = room / (Math.max(right - left, bottom - top) || room);
  const place = ([x, y]) =>
    [(x - (left + right) / 2) * scale + side / 2, (y - (top + bottom) / 2) * scale + side / 2];
  const lines = strokes.flatMap((stroke) =>
    stroke.map((point, i) => [place(point), place(stroke[i + 1] ?? point)]));
  const away = (x, y, [[x0, y0], [x1, y1]]) => {
    const [across, down] = [x1 - x0, y1 - y0], length = across * across + down * down;
    const along = length ? ((x - x0) * across + (y - y0) * down) / length : 0;
    const part = Math.min(1, Math.max(0, along));
    return Math.hypot(x - x0 - part * across, y - y0 - part * down);
  };
  return Array.from({ length: side * side }, (_, i) => {
    const [x, y] = [(i % side) + 0.5, Math.floor(i / side) + 0.5];
    const near = Math.min(...lines.map((line) => away(x, y, line)));
    return Math.min(1, Math.max(0, 1 - (near - pen / 2) / pen));
  });
}

// Returns the trained layers: for each unit its weights, and at the end its bias.
function trainedLayers() {
  const layer = (text, inputs) => {
    const numbers = Int8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    const rows = [];
    for (let i = 0; i < numbers.length; i += inputs + 1) {
      rows.push(Array.from(numbers.slice(i, i + inputs + 1), (n) => new Value(n / READER.scale)));
    }
    return rows;
  };
  return [layer(READER.first, 64), layer(READER.second, READER.hidden)];
}

function reader(host, settings) {
  const { controls, picture, say } = frame(host, settings.title ?? "Draw a digit");
  let layers = trainedLayers(), strokes = [], glow = null, timer = 0, shown = Math.floor(Math.random() * 10);
  const count = layers.flat(2).length.toLocaleString("en");

  // Runs the network; with a digit, returns the loss of reading that digit as well.
  function run(digit) {
    const inputs = pixels(strokes).map((ink) => new Value(ink));
    const unit = (row, from) =>
      from.reduce((sum, input, i) => sum.add(row[i].mul(input)), row.at(-1));
    const hidden = layers[0].map((row) => unit(row, inputs).tanh());
    const logits = layers[1].map((row) => unit(row, hidden));
    const highest = new Value(Math.max(...logits.map((each) => each.data)));
    const powers = logits.map((each) => each.sub(highest).exp());
    const total = powers.reduce((sum, each) => sum.add(each));
    const chances = powers.map((each) => each.data / total.data);
    const loss = digit === undefined ? null : total.log().sub(logits[digit].sub(highest));
    return { inputs: inputs.map((each) => each.data), hidden, chances, loss };
  }
  const best = (chances) => chances.indexOf(Math.max(...chances));
  const percent = (chance) => chance > 0.995 ? "over 99\u00a0%" : chance < 0.005 ? "under 1\u00a0%" : `${Math.round(100 * chance)}\u00a0%`;

  // Runs backward from the loss; the gradients of all weights are then in the layers.
  function ask(digit) {
    for (const weight of layers.flat(2)) weight.grad = 0;
    const answer = run(digit);
    answer.loss.backward();
    return answer;
  }

  const pad = picture.appendChild(make("div", { class: "reader" }));
  pad.innerHTML = `<svg class="pad" viewBox="0 0 100 100" tabindex="0" role="application"
      aria-label="Drawing area. Arrow keys move the pen, Space puts it down and lifts it.">
      <g class="ink"></g><circle class="pen" r="3"/></svg>
    <svg class="seen" viewBox="0 0 372 200" role="img">${
      Array.from({ length: 64 }, (_, i) => {
        const at = `x="${4 + (i % 8) * 24}" y="${4 + Math.floor(i / 8) * 24}" width="23" height="23"`;
        return `<rect class="cell" ${at}/><rect class="dot" ${at}/><rect class="answered" ${at}/>`;
      }).join("")}${
      Array.from({ length: READER.hidden }, (_, j) => {
        const at = `cx="${219 + Math.floor(j / 10) * 20}" cy="${14 + (j % 10) * 19}" r="7"`;
        return `<circle class="unit" ${at}/><circle class="answered" ${at}/>`;
      }).join("")}${
      Array.from({ length: 10 }, (_, k) => `<text x="262" y="${18 + k * 19}">${k}</text>
        <rect class="chance" x="276" y="${6 + k * 19}" height="15" rx="2"/>
        <rect class="answered" x="276" y="${6 + k * 19}" width="92" height="15" rx="2"/>`).join("")}</svg>`;
  const words = picture.appendChild(make("p", { class: "says" }));
  const [board, seen] = pad.children;
  const parts = (where, name) => [...seen.querySelectorAll(`${where}.${name}`)];
  const dots = parts("rect", "dot"), units = parts("circle", "unit"), bars = parts("rect", "chance");
  const glows = [...seen.querySelectorAll(".answered")];

  function show(text) {
    const { inputs, hidden, chances } = run();
    board.querySelector(".ink").innerHTML = strokes.map((stroke) =>
      `<polyline points="${stroke.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ")} ${
        stroke.at(-1).map((each) => (each + 0.01).toFixed(2))}"/>`).join("");
    dots.forEach((dot, i) => dot.setAttribute("opacity", inputs[i].toFixed(2)));
    units.forEach((unit, j) => unit.setAttribute("opacity", (0.15 + 0.85 * Math.abs(hidden[j].data)).toFixed(2)));
    bars.forEach((bar, k) => bar.setAttribute("width", strokes.length ? (92 * chances[k]).toFixed(1) : 0));
    glows.forEach((each, i) => each.setAttribute("opacity", glow?.[i]?.toFixed(2) ?? 0));
    const first = best(chances);
    const reads = strokes.length ? `It reads ${first === 8 ? "an" : "a"} ${first}, at ${percent(chances[first])}.`
      : "Draw a digit here.";
    words.textContent = text ?? reads;
    seen.setAttribute("aria-label", `What the network sees, its ${READER.hidden} units and its answer. ${reads}`);
    for (const each of [asking, clearing, ...labels]) enable(each, strokes.length > 0);
    return reads;
  }

  // Lets the gradients run back: first over the answers, then the units, then the pixels.
  function flow() {
    const digit = best(run().chances), { chances } = ask(digit);
    const size = (grads) => grads.reduce((sum, each) => sum + Math.abs(each), 0);
    const into = (layer, i) => size(layer.map((row) => row[i].grad));
    const scaled = (sizes) => sizes.map((each) => Math.sqrt(each / (Math.max(...sizes) || 1)));
    const pixelsGlow = scaled(Array.from({ length: 64 }, (_, i) => into(layers[0], i)));
    const unitsGlow = scaled(Array.from({ length: READER.hidden }, (_, j) => into(layers[1], j)));
    const answersGlow = scaled(layers[1].map((row) => size(row.map((weight) => weight.grad))));
    const none = (list) => list.map(() => 0);
    const stages = [
      [none(pixelsGlow), none(unitsGlow), answersGlow],
      [none(pixelsGlow), unitsGlow, answersGlow],
      [pixelsGlow, unitsGlow, answersGlow],
    ];
    const ends = `All ${count} weights have answered, in one backward pass: which way to turn each, and how much it ` +
      `matters for reading ${digit === 8 ? "an" : "a"} ${digit} (now ${percent(chances[digit])}). A pixel glows where its weights matter most.`;
    const next = (stage) => {
      glow = stages[stage].flat();
      show(stage < 2 ? "The gradients run back …" : ends);
      if (stage < 2) timer = setTimeout(next, 450, stage + 1);
      else say(ends);
    };
    stop();
    next(calmly.matches ? 2 : 0);
  }

  function teach(digit) {
    stop();
    const before = ask(digit).chances[digit];
    for (const weight of layers.flat(2)) weight.data -= 0.05 * weight.grad;
    const after = run().chances;
    const text = `One step against the gradients: ${percent(before)} sure that it is ${digit === 8 ? "an" : "a"} ${digit} before, ` +
      `${percent(after[digit])} now. It reads ${best(after) === 8 ? "an" : "a"} ${best(after)}.`;
    show(text);
    say(text);
  }

  const stop = () => {
    clearTimeout(timer);
    glow = null;
  };
  function clear() {
    stop();
    strokes = [];
    pen = null;
    say(show());
  }

  // Draws a digit by itself, a little at a time.
  function demonstrate() {
    clear();
    const whole = READER.strokes[shown].map((stroke) => stroke.map(([x, y]) => [18 + 64 * x, 12 + 76 * y]));
    shown = (shown + 3) % 10;
    const fine = whole.map((stroke) => stroke.flatMap((from, i) => {
      const to = stroke[i + 1] ?? from;
      const many = Math.max(1, Math.ceil(Math.hypot(to[0] - from[0], to[1] - from[1]) / 4));
      return Array.from({ length: many }, (_, n) => [0, 1].map((k) => from[k] + ((to[k] - from[k]) * n) / many));
    }));
    if (calmly.matches) {
      strokes = fine;
      say(show());
      return;
    }
    const next = (s, n) => {
      if (s === fine.length) {
        say(show());
        return;
      }
      strokes[s] = fine[s].slice(0, n);
      show();
      timer = n < fine[s].length ? setTimeout(next, 22, s, n + 1) : setTimeout(next, 120, s + 1, 1);
    };
    next(0, 1);
  }

  // The pen, by mouse, finger or keyboard.
  let pen = null, at = [50, 50];
  const spot = board.querySelector(".pen");
  const where = (event) => {
    const box = board.getBoundingClientRect();
    return [(100 * (event.clientX - box.left)) / box.width, (100 * (event.clientY - box.top)) / box.height];
  };
  board.addEventListener("pointerdown", (event) => {
    stop();
    board.setPointerCapture(event.pointerId);
    pen = [where(event)];
    strokes.push(pen);
    show();
  });
  board.addEventListener("pointermove", (event) => {
    if (!pen || !event.buttons) return;
    pen.push(where(event));
    show();
  });
  for (const end of ["pointerup", "pointercancel"]) {
    board.addEventListener(end, () => {
      if (pen) say(show());
      pen = null;
    });
  }
  const moves = { ArrowLeft: [-6, 0], ArrowRight: [6, 0], ArrowUp: [0, -6], ArrowDown: [0, 6] };
  board.addEventListener("keydown", (event) => {
    if (event.key === " ") {
      stop();
      pen = pen ? null : [[...at]];
      if (pen) strokes.push(pen);
      say(pen ? "The pen is down." : `The pen is up. ${show()}`);
    } else if (moves[event.key]) {
      at = at.map((each, k) => Math.min(98, Math.max(2, each + moves[event.key][k])));
      pen?.push([...at]);
    } else return;
    event.preventDefault();
    spot.setAttribute("cx", at[0]);
    spot.setAttribute("cy", at[1]);
    show();
  });
  spot.setAttribute("cx", at[0]);
  spot.setAttribute("cy", at[1]);

  const asking = button("Ask each weight", flow), clearing = button("Clear", clear);
  const labels = Array.from({ length: 10 }, (_, k) => button(String(k), () => teach(k)));
  labels.forEach((each, k) => each.setAttribute("aria-label", `Teach it that this is ${k === 8 ? "an" : "a"} ${k}`));
  controls.append(button("Draw one for me", demonstrate), clearing, asking);
  picture.append(make("div", { class: "controls labels" }, make("span", {}, "Wrong? Teach it that this is:"), ...labels));
  demonstrate();
}
