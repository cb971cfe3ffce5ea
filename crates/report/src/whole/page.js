
const field = document.getElementById('search');
const said = document.getElementById('said');
const items = [...document.querySelectorAll('.t, .s, .mutants > li')];
const groups = [...document.querySelectorAll('details.c, details.l')];
const texts = new Map();
const opened = new Set();
field.form.hidden = false;
field.form.addEventListener('submit', event => event.preventDefault());

// Of what opens, only its name is searched: a test that is named by another is not that one.
const text = item => {
  if (!texts.has(item)) texts.set(item, (item.querySelector('summary') || item).textContent.toLowerCase());
  return texts.get(item);
};
const target = item => item.querySelector('summary, a, button') || item;
const seen = () => items.filter(item => !item.hidden && item.getClientRects().length).map(target);

function search() {
  const wanted = field.value.toLowerCase().trim();
  let fitting = 0;
  for (const item of items) {
    item.hidden = !text(item).includes(wanted);
    if (!item.hidden) fitting++;
  }
  for (const group of groups) {
    group.hidden = !group.querySelector('.t:not([hidden])');
    if (wanted && !group.hidden && !group.open) {
      group.open = true;
      opened.add(group);
    }
  }
  if (!wanted) {
    for (const group of opened) group.open = false;
    opened.clear();
  }
  said.textContent = wanted ? fitting + ' of ' + items.length + ' fit' : '';
}

field.addEventListener('input', search);
document.addEventListener('keydown', event => {
  const at = document.activeElement;
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key == '/' && at != field) {
    field.focus();
    field.select();
  } else if (event.key == 'Escape' && field.value) {
    field.value = '';
    search();
    field.focus();
  } else if (event.key == 'ArrowDown' || event.key == 'ArrowUp') {
    const places = seen();
    const now = places.indexOf(at);
    if (at != field && now < 0) return;
    const next = event.key == 'ArrowDown' ? now + 1 : now - 1;
    const place = next < 0 ? field : places[Math.min(next, places.length - 1)];
    if (!place) return;
    if (place.tabIndex < 0) place.tabIndex = -1;
    place.focus();
  } else if (event.key == 'Enter' && at == field) {
    const [first] = seen();
    if (!first) return;
    if (first.tabIndex < 0) first.tabIndex = -1;
    if (first.tagName == 'SUMMARY') first.parentElement.open = true;
    first.focus();
  } else return;
  event.preventDefault();
});

// A test that a link leads to is opened.
function open() {
  const to = location.hash && document.getElementById(location.hash.slice(1));
  if (to && to.tagName == 'DETAILS') to.open = true;
}
addEventListener('hashchange', open);
open();

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand('copy');
    area.remove();
  }
}
for (const what of document.querySelectorAll('.cmd, .patch')) {
  const button = document.createElement('button');
  const name = what.className.includes('patch') ? 'patch' : 'command';
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'copy';
  button.setAttribute('aria-label', 'copy this ' + name);
  button.addEventListener('click', async () => {
    await copy(what.textContent);
    button.textContent = 'copied';
    said.textContent = 'copied the ' + name;
    setTimeout(() => button.textContent = 'copy', 1500);
  });
  what.after(button);
}
