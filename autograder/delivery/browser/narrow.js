// On a narrow screen the list of files leaves the notebook no room, so it is folded at the start.
// JupyterLab unfolds it once the notebook is open: for two seconds after that it is folded again.
if (innerWidth < 800) {
  let left = 20;
  const timer = setInterval(() => {
    if (!window.jupyterapp || !document.querySelector('.jp-NotebookPanel')) return;
    window.jupyterapp.shell.collapseLeft();
    left -= 1;
    if (left === 0) clearInterval(timer);
  }, 100);
}
