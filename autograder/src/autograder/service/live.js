// Replaces the part of the page that changes whenever the service sends it, with local times.
const part = document.getElementById("live");

function localise() {
  for (const each of part.querySelectorAll("time")) {
    each.textContent = new Date(each.dateTime).toLocaleString();
  }
}

localise();
new EventSource(part.dataset.from).onmessage = (event) => {
  part.innerHTML = JSON.parse(event.data);
  localise();
};
