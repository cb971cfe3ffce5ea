
const box = document.getElementById('filter');
box.parentElement.hidden = false;
box.addEventListener('input', () => {
  const wanted = box.value.toLowerCase();
  for (const test of document.querySelectorAll('details.t'))
    test.hidden = !test.firstElementChild.textContent.toLowerCase().includes(wanted);
  for (const group of document.querySelectorAll('details.c, details.l')) {
    group.hidden = !group.querySelector('details.t:not([hidden])');
    if (wanted) group.open = true;
  }
});
