// Draws the controls that a model lists, sends what is done with them, and reads its news out.
// Works with the keyboard through the browser's own buttons, ranges, check boxes and lists.

const PAUSE = 60; // milliseconds between two ticks of a running model, for others to have a turn
const PATIENCE = 4000; // milliseconds without an answer until the page says so
const SILENT = "No answer yet. If the kernel was restarted, run this cell again.";

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// Each kind of control: its elements, what it tells, and how it shows a new state.
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
        // Unlike `disabled`, this leaves the keyboard's focus where it is.
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
};

function render({ model, el }) {
  let queue = []; // what was done while the kernel is still busy with what was done before
  let waiting = false;
  let timer = null;
  let patience = null;

  function send(name, value) {
    // Of a slider that moves on, only the last place counts.
    if (value !== null) queue = queue.filter((message) => message.name !== name);
    queue.push({ name, value });
    next();
  }

  function next() {
    if (waiting || queue.length === 0) return;
    waiting = true;
    patience = setTimeout(() => {
      hint.textContent = live.textContent = SILENT;
    }, PATIENCE);
    model.send(queue.shift());
  }

  const live = make("div", { class: "news", role: "status", "aria-live": "polite" });
  const hint = make("div", { "aria-hidden": "true" });
  const bar = make("div", { class: "bar" });
  const group = { class: "autograd-panel", role: "group", "aria-label": model.get("title") };
  el.append(make("div", group, bar, hint, live));

  const shown = model.get("controls").map((control) => {
    const one = kinds[control.kind](control, (value) => send(control.name, value));
    bar.append(one.element);
    return one;
  });

  function update() {
    model.get("controls").forEach((control, i) => {
      // A slider that is being moved knows better than the answer to an earlier message.
      if (!queue.some((message) => message.name === control.name)) shown[i].update(control);
    });
    if (live.textContent !== model.get("news")) live.textContent = model.get("news");
  }

  function answered() {
    waiting = false;
    clearTimeout(patience);
    hint.textContent = "";
    update();
    next();
    clearTimeout(timer);
    if (model.get("running")) timer = setTimeout(() => send("tick", null), PAUSE);
  }

  // JupyterLab takes the arrow keys and single letters for its cells unless it is told not to.
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
    clearTimeout(patience);
    window.removeEventListener("keydown", keepKeys, true);
    model.off("change:turn", answered);
  };
}

export default { render };
