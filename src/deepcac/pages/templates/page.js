"use strict";
(() => {
  const NUMBER = /^[<>≤≥]?\s*([-+−]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?|[-+−]?\.\d+)/i;
  const collator = new Intl.Collator("en", { numeric: true });

  const numberOf = (text) => {
    const found = NUMBER.exec(text);
    return found ? parseFloat(found[1].replace("−", "-").replaceAll(",", "")) : NaN;
  };

  // One object a table: its rows with their texts, read once, and what hides or orders them.
  const tables = [...document.querySelectorAll("table[data-sortable]")].map((table) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row) => {
      const texts = [...row.cells].map((cell) => (cell.dataset.value ?? cell.textContent).trim());
      return { row, texts, all: texts.join(" ").toLowerCase() };
    });
    const form = document.querySelector(`form[data-for="${table.id}"]`);
    return { table, body, rows, form, sorted: null };
  });

  const order = (one, column, down) => {
    const keyed = one.rows.map((entry) => [entry.texts[column], numberOf(entry.texts[column]), entry.row]);
    const sign = down ? -1 : 1;
    keyed.sort(([a, x], [b, y]) => {
      if (!a || !b) return (a === "") - (b === "");
      const plain = Number.isNaN(x) - Number.isNaN(y);
      if (plain) return plain;
      return sign * (Number.isNaN(x) || x === y ? collator.compare(a, b) : x - y);
    });
    one.body.append(...keyed.map(([, , row]) => row));
    [...one.table.tHead.rows[0].cells].forEach((cell, place) => {
      if (place === column) cell.setAttribute("aria-sort", down ? "descending" : "ascending");
      else cell.removeAttribute("aria-sort");
    });
    one.sorted = { column, down };
  };

  const filter = (one) => {
    const words = one.form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = [...one.form.querySelectorAll("select")].filter((select) => select.value);
    let shown = 0;
    for (const { row, texts, all } of one.rows) {
      const fits =
        words.every((word) => all.includes(word)) &&
        chosen.every((select) => texts[select.dataset.column] === select.value);
      if (row.hidden === fits) row.hidden = !fits;
      shown += fits;
    }
    const count = (n) => n.toLocaleString("en");
    one.form.querySelector("output").textContent = `${count(shown)} of ${count(one.rows.length)} rows`;
  };

  // Filters and order live in the fragment, the one part of a file's address that may change.
  const remember = (one) => {
    const state = new URLSearchParams();
    for (const field of one.form ? one.form.querySelectorAll("input, select") : []) {
      if (field.value) state.set(field.name, field.value);
    }
    if (one.sorted) state.set("sort", (one.sorted.down ? "-" : "") + one.sorted.column);
    const text = state.toString();
    history.replaceState(null, "", text ? `#${one.table.id}?${text}` : `#${one.table.id}`);
  };

  const recall = () => {
    const [id, query] = location.hash.slice(1).split("?");
    const one = tables.find(({ table }) => table.id === id);
    const folded = id && document.getElementById(id)?.closest("details:not([open])");
    if (folded) {
      folded.open = true;
      document.getElementById(id).scrollIntoView();
    }
    if (!one || !query) return;
    const state = new URLSearchParams(query);
    for (const field of one.form ? one.form.querySelectorAll("input, select") : []) {
      field.value = state.get(field.name) ?? "";
    }
    const sort = state.get("sort");
    if (sort !== null) order(one, Math.abs(parseInt(sort, 10)), sort.startsWith("-"));
    if (one.form) filter(one);
    one.table.closest(".scroll").scrollIntoView();
  };

  const addChoice = (one, column) => {
    const name = one.table.tHead.rows[0].cells[column].textContent.trim();
    const values = [...new Set(one.rows.map(({ texts }) => texts[column]))].filter(Boolean);
    if (values.length < 2) return;
    const label = document.createElement("label");
    const select = document.createElement("select");
    select.name = name;
    select.dataset.column = column;
    select.append(new Option("all", ""), ...values.sort(collator.compare).map((value) => new Option(value, value)));
    label.append(`${name} `, select);
    one.form.querySelector("output").before(label);
  };

  for (const one of tables) {
    [...one.table.tHead.rows[0].cells].forEach((cell, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = cell.textContent.trim();
      button.addEventListener("click", () => {
        const again = one.sorted && one.sorted.column === column;
        order(one, column, again ? !one.sorted.down : false);
        remember(one);
      });
      cell.replaceChildren(button);
    });
    if (!one.form) continue;
    for (const column of JSON.parse(one.table.dataset.filters || "[]")) addChoice(one, column);
    one.form.addEventListener("input", () => {
      filter(one);
      remember(one);
    });
    one.form.addEventListener("submit", (event) => event.preventDefault());
    filter(one);
  }

  // What is folded is printed; a head that is repeated on every page shows text, not buttons.
  const heads = [...document.querySelectorAll("th button")].map((button) => [button.parentElement, button]);
  addEventListener("afterprint", () => heads.forEach(([cell, button]) => cell.replaceChildren(button)));
  addEventListener("beforeprint", () => {
    for (const [cell, button] of heads) cell.replaceChildren(button.textContent);
    for (const folded of document.querySelectorAll("details:not([open])")) folded.open = true;
    for (const image of document.images) image.loading = "eager";
  });
  addEventListener("hashchange", recall);
  recall();
  document.documentElement.classList.add("js");
})();
