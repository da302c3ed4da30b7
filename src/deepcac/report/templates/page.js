"use strict";
(() => {
  const sections = [...document.querySelectorAll("main > section")];
  const links = [...document.querySelectorAll("nav a")];

  const show = () => {
    const target = document.getElementById(location.hash.slice(1));
    const current = (target && target.closest("main > section")) || sections[0];
    sections.forEach((section) => section.classList.toggle("shown", section === current));
    links.forEach((link) => {
      if (link.hash === "#" + current.id) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    });
  };

  const value = (row, column) => {
    const cell = row.cells[column];
    return (cell.querySelector("b") || cell).textContent.trim();
  };

  const compare = (a, b) => {
    if (!a || !b) return (a === "") - (b === "");
    const [x, y] = [parseFloat(a), parseFloat(b)];
    const numbers = !Number.isNaN(x) && !Number.isNaN(y);
    return numbers ? x - y : a.localeCompare(b, "en", { numeric: true });
  };

  const sort = (table, column) => {
    const head = table.tHead.rows[0].cells;
    const up = head[column].getAttribute("aria-sort") !== "ascending";
    [...head].forEach((cell) => cell.removeAttribute("aria-sort"));
    head[column].setAttribute("aria-sort", up ? "ascending" : "descending");
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => [value(row, column), row]);
    rows.sort(([a], [b]) => (a && b && !up ? -compare(a, b) : compare(a, b)));
    body.append(...rows.map(([, row]) => row));
  };

  const filter = (form) => {
    const table = document.getElementById(form.dataset.for);
    const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const verdict = form.elements.verdict ? form.elements.verdict.value : "";
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const text = row.textContent.toLowerCase();
      const fits = words.every((word) => text.includes(word)) && (!verdict || row.dataset.verdict === verdict);
      row.hidden = !fits;
      shown += fits;
    }
    form.querySelector("output").textContent = `${shown} of ${table.tBodies[0].rows.length} rows`;
  };

  document.querySelectorAll("table[data-sortable]").forEach((table) => {
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = cell.textContent;
      button.addEventListener("click", () => sort(table, column));
      cell.replaceChildren(button);
    });
  });
  document.querySelectorAll("form.filters").forEach((form) => {
    form.addEventListener("input", () => filter(form));
    form.addEventListener("submit", (event) => event.preventDefault());
    filter(form);
  });
  document.documentElement.classList.add("js");
  addEventListener("hashchange", show);
  show();
})();
