// Tables are sorted by a click on a heading, numbers by size; print has everything unfolded.
const number = text => parseFloat(text.replace(/,/g, "").replace(/^[^\d.-]*/, ""));
const compare = (a, b) => {
  const [x, y] = [number(a), number(b)];
  return isNaN(x) || isNaN(y) ? isNaN(x) - isNaN(y) || a.localeCompare(b) : x - y;
};
for (const heading of document.querySelectorAll("thead th")) {
  const text = row => row.cells[heading.cellIndex].textContent.trim();
  const sort = () => {
    const up = heading.getAttribute("aria-sort") === "ascending" ? -1 : 1;
    for (const each of heading.parentNode.cells) each.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", up === 1 ? "ascending" : "descending");
    const body = heading.closest("table").tBodies[0];
    body.append(...[...body.rows].sort((a, b) => up * compare(text(a), text(b))));
  };
  heading.tabIndex = 0;
  heading.addEventListener("click", sort);
  heading.addEventListener("keydown", event => event.key === "Enter" && sort());
}
addEventListener("beforeprint", () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
});
