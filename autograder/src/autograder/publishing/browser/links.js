// A link to a file of this site opens a tab of its own: a notebook as one, all else as it is.
// Jupyter Notebook would look for it in the list of files.
addEventListener('click', (event) => {
  const link = event.target.closest('a[href]');
  const root = new URL('../', location.href).href;
  if (!link || !link.href.startsWith(`${root}files/`)) return;
  event.preventDefault();
  event.stopPropagation();
  const path = link.href.slice(`${root}files/`.length);
  open(/\.ipynb(#|$)/.test(path) ? `${root}notebooks/index.html?path=${path}` : link.href);
}, true);

// The way back to the start page, which saves notebooks as files: the bars above have none.
const home = document.createElement('a');
home.href = '../index.html';
home.className = 'start-page';
home.innerHTML = '⌂<span> Start page</span>';
document.body?.append(home);

// Until the kernel of a notebook answers, say that Python is on its way.
const idle = '.jp-Notebook-ExecutionIndicator[data-status="idle"]';
const coming = document.createElement('p');
coming.className = 'python-coming';
coming.setAttribute('role', 'status');
coming.innerHTML = 'Python is being loaded. Read meanwhile <progress aria-label="Loading Python"></progress>';
if (location.pathname.includes('/notebooks/')) document.body?.append(coming);
const look = setInterval(() => {
  if (!document.querySelector(idle)) return;
  coming.remove();
  clearInterval(look);
}, 300);
