// Draws the controls that a model lists, sends what is done with them, and reads its news out.
// Works with the keyboard through the browser's own buttons, ranges, check boxes and lists.

const PAUSE = 60; // milliseconds between two ticks of a running model, for other messages
const ANSWER_TIMEOUT = 4000; // milliseconds without an answer, after which the page says so
const SILENT = "No answer yet. If the kernel was restarted, run this cell again.";

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// For each kind of control: makes its elements, sends its messages, and shows a new state of it.
const kinds = {
  button(control, send) {
    const button = make("button", { type: "button" }, control.label);
    button.onclick = () => {
      if (button.getAttribute("aria-disabled") !== "true") send(null);
    };
    return {
      element: button,
      update(now) {
        button.textContent = now.label;
        // Unlike `disabled`, `aria-disabled` leaves the keyboard's focus where it is.
        button.setAttribute("aria-disabled", String(!now.enabled));
      },
    };
  },

  toggle(control, send) {
    const box = make("input", { type: "checkbox" });
    box.onchange = () => send(box.checked);
    return {
      element: make("label", {}, box, ` ${control.label}`),
      update(now) {
        box.checked = now.value;
        box.disabled = !now.enabled;
      },
    };
  },

  slider(control, send) {
    const range = make("input", { type: "range", "aria-label": control.label });
    const shown = make("span", { class: "number", "aria-hidden": "true" });
    const show = () => {
      shown.textContent = String(Number(Number(range.value).toPrecision(4)));
    };
    range.oninput = () => {
      show();
      send(Number(range.value));
    };
    return {
      element: make("label", {}, `${control.label} `, range, shown),
      update(now) {
        range.min = now.low;
        range.max = now.high;
        range.step = now.step;
        range.value = now.value;
        range.setAttribute("aria-valuetext", String(Number(Number(now.value).toPrecision(4))));
        show();
      },
    };
  },

  choice(control, send) {
    const list = make("select", {});
    for (const option of control.options) list.append(make("option", {}, String(option)));
    list.onchange = () => send(control.options[list.selectedIndex]);
    return {
      element: make("label", {}, `${control.label} `, list),
      update(now) {
        list.selectedIndex = now.options.indexOf(now.value);
      },
    };
  },

  field(control, send) {
    const form = make("form", {}, `${control.label} …`);
    const input = make("input", { type: "text", autocomplete: "off", size: 6, "aria-label": control.label });
    if (!control.options.length) form.append(input, make("button", { type: "submit" }, "See"));
    for (const option of control.options) {
      const button = make("button", { type: "button" }, option);
      button.onclick = () => send(option);
      form.append(button);
    }
    // JupyterLab takes the focus away before a browser submits the form by itself.
    input.onkeydown = (event) => {
      if (event.key !== "Enter") return;
      event.preventDefault();
      form.requestSubmit();
    };
    form.onsubmit = (event) => {
      event.preventDefault();
      if (input.value.trim()) send(input.value.trim());
    };
    return { element: form, update() {} };
  },

  text(control, send) {
    const spelling = { autocomplete: "off", autocapitalize: "none", spellcheck: "false" };
    const field = make("input", { type: "text", size: 9, ...spelling });
    field.oninput = () => send(field.value);
    return {
      element: make("label", {}, `${control.label} `, field),
      update(now) {
        if (field.value !== now.value) field.value = now.value;
      },
    };
  },

  // Strokes of a pen, as lists of points [x, y] from 0 to 1. Without a mouse, arrow keys move the
  // pen, and Space puts it down and lifts it.
  pad(control, send) {
    const SIDE = 200;
    const REACH = 1 / 16; // how far one press of an arrow key moves the pen
    const area = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    const label = `${control.label}. Arrow keys move the pen, Space puts it down or lifts it.`;
    const attributes = { class: "pad", width: SIDE, height: SIDE, tabindex: 0, role: "application" };
    for (const [name, value] of Object.entries({ ...attributes, "aria-label": label })) {
      area.setAttribute(name, value);
    }
    const ARROWS = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };
    let strokes = [];
    let pen = [0.5, 0.5];
    let down = false;

    function paint() {
      area.replaceChildren();
      const add = (tag, values) => {
        const part = document.createElementNS(area.namespaceURI, tag);
        for (const [name, value] of Object.entries(values)) part.setAttribute(name, value);
        area.append(part);
      };
      for (const stroke of strokes) {
        const points = [...stroke, stroke.at(-1)];
        add("polyline", { points: points.map((p) => p.map((a) => a * SIDE).join()).join(" ") });
      }
      const [cx, cy] = pen.map((a) => a * SIDE);
      add("circle", { class: down ? "down" : "", cx, cy, r: 5 });
    }
    function move(to) {
      pen = to.map((a) => Math.min(1, Math.max(0, a)));
      if (down) strokes.at(-1).push(pen);
      paint();
    }
    function put(isDown) {
      down = isDown;
      if (down) strokes.push([pen]);
      else send(strokes);
      paint();
    }
    const place = (event) => {
      const box = area.getBoundingClientRect();
      return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
    };
    area.onpointerdown = (event) => {
      area.setPointerCapture(event.pointerId);
      move(place(event));
      put(true);
    };
    area.onpointermove = (event) => {
      if (area.hasPointerCapture(event.pointerId)) move(place(event));
    };
    area.onlostpointercapture = () => put(false);
    area.onkeydown = (event) => {
      const [x, y] = ARROWS[event.key] ?? [0, 0];
      if (event.key !== " " && !x && !y) return;
      event.preventDefault();
      if (event.key === " ") put(!down);
      else move([pen[0] + x * REACH, pen[1] + y * REACH]);
    };
    return {
      element: area,
      update(now) {
        if (down) return;
        strokes = now.value.map((stroke) => [...stroke]);
        paint();
      },
    };
  },
};

function render({ model, el }) {
  let queue = []; // messages that wait until the kernel has answered the one before
  let waiting = false;
  let timer = null;
  let answerTimer = null;

  function send(name, value) {
    // While a slider moves on, only its last value has to be sent.
    if (value !== null) queue = queue.filter((message) => message.name !== name);
    queue.push({ name, value });
    next();
  }

  function next() {
    if (waiting || queue.length === 0) return;
    waiting = true;
    answerTimer = setTimeout(() => {
      hint.textContent = live.textContent = SILENT;
    }, ANSWER_TIMEOUT);
    model.send(queue.shift());
  }

  const live = make("div", { class: "news", role: "status", "aria-live": "polite" });
  const hint = make("div", { "aria-hidden": "true" });
  const bar = make("div", { class: "bar" });
  const choices = make("div", { class: "bar" });
  const settings = make("details", {}, make("summary", {}, "Settings"), choices);
  // On a narrow screen, open settings would push the picture out of sight.
  settings.open = matchMedia("(min-width: 600px)").matches;
  const group = { class: "autograd-panel", role: "group", "aria-label": model.get("title") };
  el.append(make("div", group, bar, hint, live));

  const controls = model.get("controls");
  const first = controls.findIndex((control) => control.kind === "choice");
  const shown = controls.map((control, i) => {
    const one = kinds[control.kind](control, (value) => send(control.name, value));
    (first < 0 || i < first ? bar : choices).append(one.element);
    return one;
  });
  if (first >= 0) bar.after(settings);

  function update() {
    model.get("controls").forEach((control, i) => {
      // While a slider is being moved, an answer to an earlier message must not move it back.
      if (!queue.some((message) => message.name === control.name)) shown[i].update(control);
    });
    if (live.textContent !== model.get("news")) live.textContent = model.get("news");
  }

  function answered() {
    waiting = false;
    clearTimeout(answerTimer);
    hint.textContent = "";
    update();
    next();
    clearTimeout(timer);
    if (model.get("running")) timer = setTimeout(() => send("tick", null), PAUSE);
  }

  // JupyterLab uses the arrow keys and single letters as its own shortcuts, unless it is told not
  // to.
  function keepKeys(event) {
    if (!el.contains(event.target)) return;
    const plain = !(event.ctrlKey || event.metaKey || event.altKey || event.shiftKey);
    event.target.toggleAttribute("data-lm-suppress-shortcuts", plain);
  }

  update();
  window.addEventListener("keydown", keepKeys, true);
  model.on("change:turn", answered);
  send("hello", null);
  return () => {
    clearTimeout(timer);
    clearTimeout(answerTimer);
    window.removeEventListener("keydown", keepKeys, true);
    model.off("change:turn", answered);
  };
}

export default { render };
