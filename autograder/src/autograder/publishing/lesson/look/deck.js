"use strict";
// Shows one slide at a time. The slide's number is the address's hash, so that bookmarks and the
// browser's own back button work. Without this script the slides stand one below the other.

const slides = [...document.querySelectorAll(".slide")];
const classes = document.body.classList;
let now = 0;

function show(number) {
  now = Math.max(0, Math.min(slides.length - 1, number));
  slides.forEach((slide, i) => slide.classList.toggle("now", i === now));
  history.replaceState(null, "", `#${slides[now].id}`);
  // The focus tells a screen reader which slide this is.
  slides[now].focus();
}

function toggle(what) {
  const on = classes.toggle(`with-${what}`);
  document.querySelector(`[data-do=${what}]`).setAttribute("aria-pressed", on);
  show(now);
}

// Goes to the next slide or the one before. An interactive on the slide that has steps of its own
// takes one of them instead, and cancels the event.
function go(by) {
  const step = new CustomEvent("step", { detail: by, cancelable: true });
  if (classes.contains("with-overview") || slides[now].dispatchEvent(step)) show(now + by);
}

const actions = {
  next: () => go(1),
  back: () => go(-1),
  first: () => show(0),
  last: () => show(slides.length - 1),
  overview: () => toggle("overview"),
  notes: () => toggle("notes"),
  open: () => classes.contains("with-overview") && toggle("overview"),
};

const keys = {
  ArrowRight: "next", ArrowDown: "next", PageDown: "next", " ": "next",
  ArrowLeft: "back", ArrowUp: "back", PageUp: "back",
  Home: "first", End: "last", o: "overview", n: "notes", Enter: "open", Escape: "open",
};

document.addEventListener("keydown", (event) => {
  const { key, target } = event;
  if (target.closest("input, select, textarea")) return;
  // Buttons and links keep the keys that press them, and wide boxes those that scroll them.
  const presses = target.closest("button, a, summary") && [" ", "Enter"].includes(key);
  const scrolls = target.scrollWidth > target.clientWidth && key.startsWith("Arrow");
  if (!keys[key] || presses || scrolls || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  actions[keys[key]]();
});

for (const button of document.querySelectorAll("nav button")) {
  button.addEventListener("click", () => actions[button.dataset.do]());
}

// A finger that moves to the side, unless it scrolls a wide box or moves a control.
let start = null;
document.addEventListener("pointerdown", ({ target, pointerType, clientX, clientY }) => {
  const isFree = pointerType === "touch" && !target.closest("input, select, svg, pre, table");
  start = isFree ? [clientX, clientY] : null;
});
document.addEventListener("pointerup", ({ clientX, clientY }) => {
  if (!start) return;
  const [across, down] = [clientX - start[0], clientY - start[1]];
  if (Math.abs(across) > 60 && Math.abs(across) > 2 * Math.abs(down)) {
    actions[across < 0 ? "next" : "back"]();
  }
});

slides.forEach((slide, i) => slide.addEventListener("click", () => {
  if (!classes.contains("with-overview")) return;
  now = i;
  toggle("overview");
}));

addEventListener("hashchange", () => show(Number(location.hash.slice(1)) - 1));

classes.add("shown");
show((Number(location.hash.slice(1)) || 1) - 1);
