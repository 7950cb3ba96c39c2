// Give each notebook that this browser keeps a button which saves it as a file for handing in, and
// show how many of its exercises pass their check. Each file that the student's code wrote beside
// the notebooks' folders has such a button as well.
const done = (request) => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result);
  request.onerror = () => reject(request.error);
});

async function kept() {
  // The name that JupyterLite gives its store. To open one that is not there would make it.
  const name = `JupyterLite Storage - ${new URL('.', location.href).pathname}`;
  if (!(await indexedDB.databases()).some((each) => each.name === name)) return;
  const store = await done(indexedDB.open(name));
  try {
    if (!store.objectStoreNames.contains('files')) return;
    for (const item of document.querySelectorAll('[data-path]')) {
      const files = store.transaction('files').objectStore('files');
      const file = await done(files.get(item.dataset.path));
      item.querySelectorAll('.progress, button').forEach((each) => each.remove());
      if (!file) continue;
      item.append(...progress(file), button(item.dataset.path.split('/').pop(), file));
    }
    const files = store.transaction('files').objectStore('files');
    const written = (await done(files.getAll())).filter(isWritten);
    const made = document.querySelector('#made');
    made.hidden = !written.length;
    made.querySelector('div').replaceChildren(...written.map((file) => button(file.name, file)));
  } finally {
    store.close();
  }
}

// Checks that ran without an error, of all checks.
function progress({ content }) {
  const checks = (content?.cells ?? []).filter(({ cell_type, metadata: { nbgrader } }) =>
    cell_type === 'code' && nbgrader?.grade && !nbgrader.solution);
  const passed = checks.filter(({ execution_count, outputs }) =>
    execution_count && !outputs.some(({ output_type }) => output_type === 'error'));
  if (!checks.length) return [];
  const bar = document.createElement('p');
  bar.className = 'progress';
  bar.innerHTML = `<label>${passed.length} of ${checks.length} exercises done
    <progress value="${passed.length}" max="${checks.length}"></progress></label>`;
  return [bar];
}

const isWritten = ({ type, path }) => type === 'file' && !path.includes('/');

function bytes({ content, format }) {
  if (format === 'base64') return Uint8Array.from(atob(content), (each) => each.charCodeAt(0));
  return typeof content === 'string' ? content : JSON.stringify(content, null, 1);
}

function button(name, file) {
  const made = document.createElement('button');
  made.textContent = `Save ${name} of ${new Date(file.last_modified).toLocaleString()} as a file`;
  made.onclick = () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([bytes(file)]));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return made;
}

// On a computer, fetch Python while its reader is still on this page.
if (matchMedia('(pointer: fine)').matches && !navigator.connection?.saveData) {
  for (const address of document.querySelector('[data-ahead]').dataset.ahead.split(' ')) {
    const link = document.createElement('link');
    Object.assign(link, { rel: 'prefetch', href: address });
    document.head.append(link);
  }
}

// Also when the page is shown again by the browser's way back.
addEventListener('pageshow', kept);
