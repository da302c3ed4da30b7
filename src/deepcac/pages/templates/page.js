"use strict";
(() => {
  const NUMBER = /^[<>≤≥]?\s*([-+−]?\d[\d,]*\.?\d*(?:e[-+]?\d+)?|[-+−]?\.\d+)/i;
  const collator = new Intl.Collator("en", { numeric: true });

  const numberOf = (text) => {
    const found = NUMBER.exec(text);
    return found ? parseFloat(found[1].replace("−", "-").replaceAll(",", "")) : NaN;
  };

  // Opening a row shows the columns that are folded away because the line would be too wide.
  const unfold = (one, row, button) => {
    const open = button.getAttribute("aria-expanded") === "true";
    button.setAttribute("aria-expanded", String(!open));
    if (open) {
      row.nextElementSibling.remove();
      return;
    }
    const heads = one.table.tHead.rows[0].cells;
    const list = document.createElement("dl");
    one.folded.forEach((hidden, place) => {
      const cell = row.cells[place];
      if (!hidden || !cell.textContent.trim()) return;
      const name = document.createElement("dt");
      name.textContent = heads[place].textContent.trim();
      const value = document.createElement("dd");
      value.append(...cell.cloneNode(true).childNodes);
      list.append(name, value);
    });
    const detail = document.createElement("tr");
    detail.className = "detail";
    const cell = detail.insertCell();
    cell.colSpan = one.folded.filter((hidden) => !hidden).length;
    cell.append(list);
    row.after(detail);
  };

  const close = ({ table }) => {
    for (const detail of table.querySelectorAll("tr.detail")) detail.remove();
    for (const button of table.querySelectorAll(".more")) button.setAttribute("aria-expanded", "false");
  };

  // A style sheet of its own hides the columns: no row is touched.
  const hide = (one, folded) => {
    one.folded = folded;
    const places = folded.map((hidden, place) => (hidden ? `:nth-child(${place + 1})` : "")).filter(Boolean);
    one.sheet.textContent = places.length
      ? `#${CSS.escape(one.table.id)} > * > tr:not(.detail) > :is(${places.join(",")}) { display: none; }`
      : `#${CSS.escape(one.table.id)} .more { display: none; }`;
  };

  // The columns that a table names, unless a reader asked for all.
  const named = (one) => {
    const folded = JSON.parse(one.table.dataset.folded || "[]");
    return [...one.table.tHead.rows[0].cells].map((_, place) => !one.whole && Boolean(folded[place]));
  };

  // First the columns that the table names, then from the right what does not fit and is not kept.
  const fold = (one) => {
    const box = one.table.closest(".scroll");
    close(one);
    one.table.classList.remove("tight");
    const folded = named(one);
    hide(one, folded);
    if (one.whole || !box.clientWidth) return;
    const wide = () => one.table.offsetWidth > box.clientWidth;
    if (folded.some(Boolean) || wide()) addButtons(one, box);
    const kept = JSON.parse(one.table.dataset.kept || "[true, true]");
    for (let place = folded.length - 1; place >= 0 && wide(); place--) {
      if (kept[place]) continue;
      folded[place] = true;
      hide(one, folded);
    }
    // Those that stay break their lines where they must.
    one.table.classList.toggle("tight", wide());
  };

  const addButtons = (one, box) => {
    if (one.opened) return;
    one.opened = true;
    for (const { row } of one.rows) {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "more";
      button.setAttribute("aria-expanded", "false");
      button.setAttribute("aria-label", "More of this row");
      button.addEventListener("click", () => unfold(one, row, button));
      row.cells[0].prepend(button);
    }
    const every = document.createElement("button");
    every.type = "button";
    every.className = "every";
    every.textContent = "Show all columns";
    every.addEventListener("click", () => {
      one.whole = !one.whole;
      every.textContent = one.whole ? "Fit the page" : "Show all columns";
      fold(one);
    });
    box.after(every);
  };

  // One object a table: its rows with their texts, read once, and what hides or orders them.
  const tables = [...document.querySelectorAll("table[data-sortable]")].map((table) => {
    const body = table.tBodies[0];
    const away = JSON.parse(table.dataset.folded || "[]");
    const rows = [...body.rows].map((row) => {
      const texts = [...row.cells].map((cell) => (cell.dataset.value ?? cell.textContent).trim());
      const seen = texts.filter((_, place) => !away[place]);
      return { row, texts, seen: seen.join(" ").toLowerCase(), all: texts.join(" ").toLowerCase() };
    });
    const form = document.querySelector(`form[data-for="${table.id}"]`);
    const sheet = document.head.appendChild(document.createElement("style"));
    return { table, body, rows, form, sheet, folded: [], whole: false, opened: false, sorted: null };
  });

  const order = (one, column, down) => {
    close(one);
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
    close(one);
    const same = JSON.parse(one.form.dataset.same || "[]");
    const words = one.form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    // A word finds its synonyms too: each group holds words, or their beginnings, for one thing.
    const ways = words.map((word) => [word, ...same.filter((group) => group.some((other) => word.startsWith(other))).flat()]);
    const chosen = [...one.form.querySelectorAll("select")].filter((select) => select.value);
    const says = (text) => ways.every((spellings) => spellings.some((word) => text.includes(word)));
    // What is folded away is searched only for words that nothing else has.
    const where = one.rows.some(({ seen }) => says(seen)) ? "seen" : "all";
    let shown = 0;
    for (const entry of one.rows) {
      const { row, texts } = entry;
      const fits = says(entry[where]) && chosen.every((select) => texts[select.dataset.column] === select.value);
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

  // A search that another page answers goes there with its words.
  for (const form of document.querySelectorAll("form[data-to]")) {
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      location.href = `${form.dataset.to}?${new URLSearchParams(new FormData(form))}`;
    });
  }

  for (const one of tables) fold(one);
  let width = innerWidth;
  addEventListener("resize", () => {
    if (width === innerWidth) return;
    width = innerWidth;
    tables.forEach(fold);
  });
  for (const part of document.querySelectorAll("details")) {
    part.addEventListener("toggle", () => tables.filter(({ table }) => part.contains(table)).forEach(fold));
  }

  // A table is printed as wide as the paper, without the columns that it names: the files have them.
  // A head that is repeated on every page shows text, not buttons.
  const heads = [...document.querySelectorAll("thead th button")].map((button) => [button.parentElement, button]);
  addEventListener("afterprint", () => {
    heads.forEach(([cell, button]) => cell.replaceChildren(button));
    tables.forEach(fold);
  });
  addEventListener("beforeprint", () => {
    for (const one of tables) hide(one, named(one));
    for (const [cell, button] of heads) cell.replaceChildren(button.textContent);
    for (const folded of document.querySelectorAll("details:not([open])")) folded.open = true;
    for (const image of document.images) image.loading = "eager";
  });
  addEventListener("hashchange", recall);
  recall();
  document.documentElement.classList.add("js");
})();
