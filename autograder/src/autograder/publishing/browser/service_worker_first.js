// Goes to the head of JupyterLite's config-utils.js, which every page loads before all else. Kernels
// reach files through the service worker, and a kernel that starts before the worker is registered
// keeps its files in memory, where they are lost: so nothing goes on until it is there.
await (async () => {
  const workers = navigator.serviceWorker;
  if (!workers) return;
  const address = new URL('service-worker.js?enableCache=false', import.meta.url).href;
  // JupyterLite takes out a worker whose version it does not find here, and registers it anew.
  localStorage.setItem(`${address}-version`, 'APP_VERSION');
  const inCharge = new Promise((resolve) => {
    if (workers.controller) resolve();
    workers.addEventListener('controllerchange', resolve, { once: true });
  });
  // A page that was reloaded past its cache never comes under the worker.
  const enough = new Promise((resolve) => setTimeout(resolve, 5000));
  await workers
    .register(address)
    .then(() => Promise.race([inCharge, enough]))
    .catch(console.warn);
})();
