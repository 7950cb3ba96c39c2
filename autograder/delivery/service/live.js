// Shows what the service sends in the place of the part of the page that changes.
const part = document.getElementById("live");
new EventSource(part.dataset.from).onmessage = (event) => {
  part.innerHTML = JSON.parse(event.data);
};
