// Give each notebook that this browser keeps a button which saves it as a file for handing in.
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
      item.querySelector('button')?.remove();
      if (file) item.append(button(item.dataset.path.split('/').pop(), file));
    }
  } finally {
    store.close();
  }
}

function button(name, file) {
  const made = document.createElement('button');
  made.textContent = `Save ${name} of ${new Date(file.last_modified).toLocaleString()} as a file`;
  made.onclick = () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([JSON.stringify(file.content, null, 1)]));
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return made;
}

// Also when the page is shown again by the browser's way back.
addEventListener('pageshow', kept);
