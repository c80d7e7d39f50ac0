// Tables of many rows get a field that filters them, and heads that sort them.
(function () {
  'use strict';
  const MANY = 14;
  const text = (row, column) => (row.cells[column] ? row.cells[column].textContent.trim() : '');
  // Numbers before words; "58 of 61" goes by its first number.
  const key = (words) => {
    const number = /^-?[\d,]*\.?\d+/.exec(words);
    return number ? [0, parseFloat(number[0].replace(/,/g, '')), words] : [1, 0, words.toLowerCase()];
  };
  const compare = (one, two) => {
    for (let at = 0; at < 3; at += 1) {
      if (one[at] < two[at]) return -1;
      if (one[at] > two[at]) return 1;
    }
    return 0;
  };

  function sort(table, column, head) {
    const descending = head.getAttribute('aria-sort') === 'ascending';
    for (const other of head.parentNode.cells) other.removeAttribute('aria-sort');
    head.setAttribute('aria-sort', descending ? 'descending' : 'ascending');
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [key(text(row, column)), row]);
    rows.sort((one, two) => compare(one[0], two[0]) * (descending ? -1 : 1));
    body.append(...rows.map((pair) => pair[1]));
  }

  function enable(table) {
    const rows = [...table.tBodies[0].rows];
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'sorts';
      button.title = 'Sort';
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener('click', () => sort(table, column, head));
    });
    const field = document.createElement('input');
    field.type = 'search';
    field.className = 'filters';
    field.placeholder = `Filter ${rows.length} rows`;
    field.setAttribute('aria-label', field.placeholder);
    const told = document.createElement('span');
    told.className = 'filtered';
    told.setAttribute('role', 'status');
    field.addEventListener('input', () => {
      const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      for (const row of rows) {
        const all = row.textContent.toLowerCase();
        row.hidden = !words.every((word) => all.includes(word));
        shown += row.hidden ? 0 : 1;
      }
      told.textContent = words.length ? `${shown} of ${rows.length}` : '';
    });
    const place = document.createElement('div');
    place.className = 'filter-row';
    place.append(field, told);
    (table.closest('.md-typeset__scrollwrap') ?? table).before(place);
  }

  function start() {
    for (const table of document.querySelectorAll('.md-typeset table:not(.lanes)')) {
      if (table.tHead && table.tBodies.length && table.tBodies[0].rows.length >= MANY) enable(table);
    }
  }
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();
}());
