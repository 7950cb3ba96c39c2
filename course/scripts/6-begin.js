// Begins every interactive of the page.

const KINDS = { stepper, playground, trainer, reader, ask };
for (const host of document.querySelectorAll("[data-interactive]")) {
  KINDS[host.dataset.interactive](host, JSON.parse(host.dataset.settings));
}
