"use strict";
// The page works without this: it adds arrow keys among marks, a way back from a frame, and filters.
for (const figure of document.querySelectorAll("figure.timeline")) {
  const marks = [...figure.querySelectorAll("svg a")];
  // In the order of the events, findings and frames mixed; one of them is a stop of the Tab key.
  const event = (mark) => Number(mark.getAttribute("href").split("f").pop());
  marks.sort((a, b) => event(a) - event(b));
  const frame = (mark) => document.getElementById(mark.getAttribute("href").slice(1));
  const first = Math.max(0, marks.findIndex((mark) => mark.classList.contains("finding")));
  marks.forEach((mark, place) => mark.setAttribute("tabindex", place === first ? "0" : "-1"));
  const go = (place) => {
    const at = Math.min(Math.max(place, 0), marks.length - 1);
    marks.forEach((mark) => mark.setAttribute("tabindex", "-1"));
    marks[at].setAttribute("tabindex", "0");
    marks[at].focus();
  };
  let origin = null;
  const show = (mark) => {
    const shown = frame(mark);
    if (!shown) return;
    figure.querySelectorAll(".shown").forEach((each) => each.classList.remove("shown"));
    shown.classList.add("shown");
    shown.scrollIntoView({ block: "nearest" });
    shown.focus({ preventScroll: true });
    origin = mark;
  };
  const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
  marks.forEach((mark, place) => {
    mark.addEventListener("click", (click) => { click.preventDefault(); show(mark); });
    mark.addEventListener("keydown", (key) => {
      const to = key.key === "Home" ? 0 : key.key === "End" ? marks.length - 1
        : key.key in steps ? place + steps[key.key] : null;
      if (to === null) return;
      key.preventDefault();
      go(to);
    });
  });
  const frames = figure.querySelector(".frames");
  const bad = frames.querySelector("li.bad");
  // Where the picture is wider than the screen, it begins at the first finding.
  const toFinding = () => {
    if (bad) frames.scrollTop = bad.offsetTop - frames.offsetTop - 8;
    const mark = marks[first];
    if (!mark || !mark.classList.contains("finding")) return;
    const picture = figure.querySelector(".picture");
    const room = picture.getBoundingClientRect();
    picture.scrollLeft += mark.getBoundingClientRect().left - room.left - room.width / 2;
  };
  toFinding();
  // Nothing has a place while the stream is closed.
  figure.closest("details")?.addEventListener("toggle", toFinding, { once: true });
  frames.addEventListener("keydown", (key) => {
    if (key.key === "Escape" && origin) { key.preventDefault(); go(marks.indexOf(origin)); }
  });
}
// What is shown hangs on four fields. They stand in the address, so that a view can be sent on:
// report.html#filter?rule=item-id&verdict=FAIL
const bar = document.getElementById("filters");
const fields = bar ? [...bar.querySelectorAll("[name]")] : [];
const wanted = () => Object.fromEntries(fields.map((each) => [each.name, each.value.trim().toLowerCase()]));
const holds = (element, text) => !text || element.textContent.toLowerCase().includes(text);
const put = (element, shown) => { element.classList.toggle("off", !shown); return shown; };
// The rules behind a cell by verdict; a row that is not listed has none, and its sign must do.
const cellFits = (cell, suite, want) => {
  const ofVerdict = (element) => !want.verdict || element.classList.contains(`v-${want.verdict}`);
  const lists = [...cell.querySelectorAll(".over p")];
  if (!lists.length) return ofVerdict(cell);
  return lists.some((list) => ofVerdict(list.querySelector(".v")) && (!want.rule
    || list.lastChild.textContent.split(",").some((name) => `${suite}/${name.trim().toLowerCase()}`.includes(want.rule))));
};
const filterColumns = (want) => {
  const heads = [...document.querySelectorAll(".matrix thead th")].slice(1);
  return heads.map((head) => {
    const suite = head.textContent.toLowerCase();
    const rules = head.dataset.rules.split(" ").map((name) => `${suite}/${name.toLowerCase()}`);
    return put(head, !want.rule || rules.some((rule) => rule.includes(want.rule)));
  });
};
const filterRows = (want, columns) => {
  const kept = new Map();
  const suites = [...document.querySelectorAll(".matrix thead th")].slice(1).map((head) => head.textContent.toLowerCase());
  for (const row of document.querySelectorAll(".matrix tbody tr")) {
    const cells = [...row.querySelectorAll("td")];
    cells.forEach((cell, place) => put(cell, columns[place]));
    const narrowed = want.rule || want.verdict;
    const fits = !narrowed || cells.some((cell, place) => columns[place] && cell.childNodes.length
      && cellFits(cell, suites[place], want));
    const name = row.querySelector("th");
    const shown = fits && holds(name, want.stream) && (holds(row, want.q) || holdsSection(name, want.q));
    kept.set(name.querySelector("a").getAttribute("href").slice(1), put(row, shown));
  }
  return kept;
};
const holdsSection = (name, text) => {
  const section = document.getElementById(name.querySelector("a").getAttribute("href").slice(1));
  return section !== null && holds(section, text);
};
const filterFindings = (want) => [...document.querySelectorAll("article.one[id^=g]")].filter(
  (one) => put(one, holds(one, want.q) && holds(one.querySelector("h3"), want.rule)
    && holds(one, want.stream) && (!want.verdict || one.querySelector(`h3 .v-${want.verdict}`) !== null))
).length;
const filter = () => {
  const want = wanted();
  const kept = filterRows(want, filterColumns(want));
  for (const section of document.querySelectorAll("details.stream")) {
    put(section, kept.has(section.id) ? kept.get(section.id) : holds(section, want.q || want.stream));
  }
  const groups = filterFindings(want);
  const streams = [...kept.values()].filter(Boolean).length;
  const any = fields.some((each) => each.value.trim());
  bar.querySelector("output").textContent = any ? `${streams} of ${kept.size} streams, ${groups} findings` : "";
};
const remember = () => {
  const said = new URLSearchParams(fields.filter((each) => each.value).map((each) => [each.name, each.value]));
  history.replaceState(null, "", said.size ? `#filter?${said}` : location.pathname + location.search);
};
const recall = () => {
  if (!location.hash.startsWith("#filter?")) return false;
  const said = new URLSearchParams(location.hash.slice("#filter?".length));
  for (const each of fields) each.value = said.get(each.name) ?? "";
  filter();
  return true;
};
if (bar) {
  bar.hidden = false;
  for (const each of fields) each.addEventListener("input", () => { filter(); remember(); });
  bar.querySelector("button").addEventListener("click", () => {
    for (const each of fields) each.value = "";
    filter(); remember(); fields[0].focus();
  });
}
// A link to a frame or a finding opens the stream that holds it, whatever is filtered.
const reveal = () => {
  if (recall()) return;
  const target = document.getElementById(location.hash.slice(1));
  if (!target) return;
  target.closest(".off")?.classList.remove("off");
  const stream = target.closest("details.stream");
  if (stream) stream.open = true;
  target.scrollIntoView({ block: "center" });
  if (target.tabIndex === -1) target.focus({ preventScroll: true });
};
addEventListener("hashchange", reveal);
reveal();
