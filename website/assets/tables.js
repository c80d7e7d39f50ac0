// Tables of many rows get a field that filters them, and heads that sort them.
(function () {
  'use strict';
  const MANY = 14;
  const SECTIONS = 20;
  const text = (row, column) => (row.cells[column] ? row.cells[column].textContent.trim() : '');
  // Numbers before words; "58 of 61" goes by its first number, whatever colour stands before it.
  const key = (shown) => {
    const words = shown.replace(/^[^\p{L}\p{N}.-]+/u, '');
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

  function enableSorting(table) {
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement('button');
      button.type = 'button';
      button.className = 'sorts';
      button.title = 'Sort';
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener('click', () => sort(table, column, head));
    });
  }

  function enableFilter(table) {
    const put = (place) => (table.closest('.md-typeset__scrollwrap') ?? table).before(place);
    filter([...table.tBodies[0].rows], put);
  }

  // A field that hides rows; `put` puts it somewhere, `after` looks at what is left.
  function filter(rows, put, after = () => {}) {
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
        const all = `${row.dataset.section ?? ''} ${row.textContent}`.toLowerCase();
        row.hidden = !words.every((word) => all.includes(word));
        shown += row.hidden ? 0 : 1;
      }
      told.textContent = words.length ? `${shown} of ${rows.length}` : '';
      after();
    });
    const place = document.createElement('div');
    place.className = 'filter-row';
    place.append(field, told);
    put(place);
  }

  // A page of one small table per section gets one field for all, which hides whole sections.
  function enableSections(article, tables) {
    const sections = [];
    for (const element of article.children) {
      if (element.tagName === 'H2') sections.push([element]);
      else if (sections.length) sections[sections.length - 1].push(element);
    }
    const rows = tables.flatMap((table) => [...table.tBodies[0].rows]);
    const of = (section) => section.flatMap((each) => [...each.querySelectorAll('tbody tr')]);
    for (const section of sections) {
      for (const row of of(section)) row.dataset.section = section[0].textContent;
    }
    filter(rows, (place) => sections[0][0].before(place), () => {
      for (const section of sections) {
        const own = of(section);
        const isEmpty = own.length > 0 && own.every((row) => row.hidden);
        for (const element of section) element.hidden = isEmpty;
      }
    });
  }

  function start() {
    const all = [...document.querySelectorAll('.md-typeset table:not(.lanes)')];
    const tables = all.filter((each) => each.tHead && each.tBodies.length);
    const article = document.querySelector('article.md-typeset, .md-content__inner');
    const heads = article ? article.querySelectorAll(':scope > h2').length : 0;
    const large = tables.filter((each) => each.tBodies[0].rows.length >= MANY);
    large.forEach(enableSorting);
    if (heads >= SECTIONS && 2 * tables.length >= heads) enableSections(article, tables);
    else large.forEach(enableFilter);
  }
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();
}());
