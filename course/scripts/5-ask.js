// A question that answers: a form above the folded answer, which opens once something was said.

function ask(host, { is, of }) {
  const summary = host.querySelector("summary");
  const says = make("p", { role: "status" });
  const number = (text) => Number(text.replace(",", ".").replace("\u2212", "-") || NaN);
  const quoted = (words) => (of ? `“${words}”` : words);
  const answer = (said) => {
    if (!of && Number.isNaN(number(said))) {
      says.textContent = "Type a number, such as 3 or -0.5.";
      return;
    }
    const right = said === is || number(said) === number(is);
    says.textContent = `You said ${quoted(said)}${right ? ", and that is right." : `; it is ${quoted(is)}.`}`;
    host.open = true;
  };
  const form = make("form", { class: "ask" });
  const question = form.appendChild(make("p", {}));
  question.innerHTML = summary.innerHTML;
  const controls = form.appendChild(make("div", { class: "controls" }));
  if (of) controls.append(...of.split(" | ").map((option) => button(option, () => answer(option))));
  else {
    const input = make("input", { type: "text", size: 6, autocomplete: "off", "aria-label": question.textContent });
    controls.append(input, make("button", { type: "submit" }, "See"));
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (input.value.trim()) answer(input.value.trim());
    });
  }
  form.append(says);
  summary.textContent = "Why";
  host.before(make("div", { class: "frame asked" }, form));
  form.parentElement.append(host);
}
