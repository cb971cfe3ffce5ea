
const box = document.getElementById('filter');
const opened = new Set();
box.parentElement.hidden = false;
box.addEventListener('input', () => {
  const wanted = box.value.toLowerCase();
  for (const test of document.querySelectorAll('details.t'))
    test.hidden = !test.firstElementChild.textContent.toLowerCase().includes(wanted);
  for (const group of document.querySelectorAll('details.c, details.l')) {
    group.hidden = !group.querySelector('details.t:not([hidden])');
    if (wanted && !group.hidden && !group.open) {
      group.open = true;
      opened.add(group);
    }
  }
  if (!wanted) {
    for (const group of opened) group.open = false;
    opened.clear();
  }
});
