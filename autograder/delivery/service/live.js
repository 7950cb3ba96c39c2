// Shows what the service sends in the place of the part of the page that changes.
const part = document.getElementById("live");
const secret = document.querySelector("[name=_xsrf]").value;
const from = `${part.dataset.from}?_xsrf=${encodeURIComponent(secret)}`;
new EventSource(from).onmessage = (event) => {
  part.innerHTML = JSON.parse(event.data);
};
