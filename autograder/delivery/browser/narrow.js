// On a narrow screen the list of files leaves the notebook no room, so it is folded at the start.
if (innerWidth < 800) {
  const timer = setInterval(() => {
    if (!window.jupyterapp) return;
    clearInterval(timer);
    window.jupyterapp.restored.then(() => window.jupyterapp.shell.collapseLeft());
  }, 50);
}
