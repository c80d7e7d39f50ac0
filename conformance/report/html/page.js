"use strict";
// The page works without this: it adds arrow keys among marks, and a way back from a frame.
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
  if (bad) frames.scrollTop = bad.offsetTop - frames.offsetTop - 8;
  frames.addEventListener("keydown", (key) => {
    if (key.key === "Escape" && origin) { key.preventDefault(); go(marks.indexOf(origin)); }
  });
}
// A link to a frame or a finding opens the stream that holds it.
const reveal = () => {
  const target = document.getElementById(location.hash.slice(1));
  if (!target) return;
  const stream = target.closest("details.stream");
  if (stream) stream.open = true;
  target.scrollIntoView({ block: "center" });
  if (target.tabIndex === -1) target.focus({ preventScroll: true });
};
addEventListener("hashchange", reveal);
reveal();
