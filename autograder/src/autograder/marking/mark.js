// Keys of the marking page. They work wherever no text is typed. Digits tick the items of the
// rubric; without one, and after `a`, they go to the points.
let form, points, comment, used, items, most;
let choosing = false;
let sending = false;

// Find the parts of the page that is shown now.
function start() {
  form = document.querySelector('form');
  if (!form) return;
  // The points of the items, which may come beside those of the tests.
  points = form.elements.extra ?? form.elements.points;
  comment = form.elements.comment;
  used = [...document.querySelectorAll('[data-comment]')];
  items = [...form.querySelectorAll('[name=item]')];
  most = Number(points.dataset.most);
  for (const each of items) each.addEventListener('change', () => tick((other) => other.checked));
  for (const each of used) each.addEventListener('click', () => add(each.dataset.comment));
  points.addEventListener('input', showAdjustment);
  form.addEventListener('submit', send);
  showAdjustment();
  if (items.length) document.querySelector('h1').focus({ preventScroll: true });
  else selectPoints({ preventScroll: true });  // The answer stays in view.
}

// Send the form, and show what comes in place of this page: faster than a new page.
async function send(event) {
  event.preventDefault();
  if (sending) return;
  sending = true;
  const sent = form;
  let reply, page;
  try {
    reply = await fetch(location.href, { method: 'POST', body: new URLSearchParams(new FormData(sent)) });
    page = new DOMParser().parseFromString(await reply.text(), 'text/html');
  } catch { /* The browser says what is wrong. */ }
  sending = false;
  const main = page?.querySelector('main');
  if (!main) return sent.submit();
  document.title = page.title;
  document.querySelector('main').replaceWith(main);
  if (reply.url !== location.href) history.pushState(null, '', reply.url);
  (main.querySelector('[role=alert]') ?? document.body).scrollIntoView();
  start();
}
addEventListener('popstate', () => location.reload());

function selectPoints(options) {
  points.focus(options);
  points.select();
}

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
function add(text) {
  comment.value = comment.value ? `${comment.value}\n${text}` : text;
}

addEventListener('keydown', (event) => {
  if (!form || event.altKey || event.metaKey) return;
  const isFree = event.target.matches('body, h1, [type=checkbox]');
  if (event.key === 'Enter' && (event.ctrlKey || isFree)) {
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

start();
