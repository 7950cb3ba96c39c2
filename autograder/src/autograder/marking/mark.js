// Keys of the marking page. They work wherever no text is typed. Digits tick the items of the
// rubric; without one, and after `a`, they go to the points.
const form = document.querySelector('form');
// The points of the items, which may come beside those of the tests.
const points = form.elements.extra ?? form.elements.points;
const comment = form.elements.comment;
const used = [...document.querySelectorAll('[data-comment]')];
const items = [...form.querySelectorAll('[name=item]')];
const most = Number(points.dataset.most);
let choosing = false;

function selectPoints() {
  points.focus();
  points.select();
}
if (!items.length) selectPoints();

// The points that the ticked items add up to.
function sum() {
  const ticked = items.filter((each) => each.checked);
  const total = ticked.reduce((points, each) => points + Number(each.dataset.points), 0);
  return Number(Math.min(Math.max(total, 0), most).toFixed(6));
}
function showAdjustment() {
  const typed = Number(points.value.replace(',', '.'));
  const by = Number((typed - sum()).toFixed(6));
  form.querySelector('output').value =
    items.length && points.value && by ? `${by > 0 ? '+' : '−'}${Math.abs(by)} beside the items` : '';
}
function tick(ticked) {
  for (const each of items) each.checked = ticked(each);
  points.value = sum();
  showAdjustment();
}
for (const each of items) each.addEventListener('change', () => tick((other) => other.checked));
points.addEventListener('input', showAdjustment);
showAdjustment();

function add(text) {
  comment.value = comment.value ? `${comment.value}\n${text}` : text;
}
for (const each of used) each.addEventListener('click', () => add(each.dataset.comment));

addEventListener('keydown', (event) => {
  if (event.altKey || event.metaKey) return;
  const onBox = event.target.type === 'checkbox';
  if (event.key === 'Enter' && (event.ctrlKey || onBox || event.target === document.body)) {
    event.preventDefault();
    form.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.target.matches('textarea')) {
    if (event.key === 'Escape') items.length ? event.target.blur() : points.focus();
    return;
  }
  if (event.key === 'Escape') points.blur();
  const item = event.target !== points && items[event.key - 1];
  if (choosing && used[event.key - 1]) {
    add(used[event.key - 1].dataset.comment);
    event.preventDefault();
  } else if (!choosing && item) {
    tick((other) => other.checked !== (other === item));
    event.preventDefault();
  }
  choosing = event.key === '/';
  const link = document.querySelector(`[data-key="${event.key.replace(/\W/g, '')}"]`);
  if (event.key === 'f' && !items.length) points.value = most;
  else if (event.key === 'f') tick((each) => each.dataset.points > 0);
  else if (event.key === 'n') tick(() => false);
  else if (event.key === 'a') selectPoints();
  else if (event.key === 'c') comment.focus();
  else if (link) link.click();
  else if (!choosing) return;
  event.preventDefault();
});
