// Keys of the marking page. They work wherever no text is typed; digits, dots and commas go to the
// points.
const form = document.querySelector('form');
const points = form.elements.points;
const comment = form.elements.comment;
const used = [...document.querySelectorAll('[data-comment]')];
let choosing = false;
points.select();

function add(text) {
  comment.value = comment.value ? `${comment.value}\n${text}` : text;
}
for (const each of used) each.addEventListener('click', () => add(each.dataset.comment));

addEventListener('keydown', (event) => {
  if (event.altKey || event.metaKey) return;
  if (event.key === 'Enter' && (event.ctrlKey || event.target === document.body)) {
    event.preventDefault();
    form.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.target.matches('textarea')) {
    if (event.key === 'Escape') points.focus();
    return;
  }
  if (choosing && used[event.key - 1]) {
    add(used[event.key - 1].dataset.comment);
    event.preventDefault();
  }
  choosing = event.key === '/';
  const link = document.querySelector(`[data-key="${event.key.replace(/\W/g, '')}"]`);
  if (event.key === 'f') points.value = points.dataset.most;
  else if (event.key === 'n') points.value = '0';
  else if (event.key === 'c') comment.focus();
  else if (link) link.click();
  else if (!choosing) return;
  event.preventDefault();
});
