"use strict";
(() => {
  // Everything is in the page already. This sorts and filters rows, and keeps long tables short until they are asked for.
  const FIRST = 200, PAPER = 20; // page.css cuts what is on paper
  const order = new Intl.Collator("en", { numeric: true }).compare;
  const tables = [...document.querySelectorAll("section.table")].map((section) => {
    const body = section.querySelector("tbody");
    const rows = [...body.rows].map((element, place) => ({ element, place, text: null, keys: [] }));
    return {
      section, body, rows, sorted: rows, kept: rows, limit: FIRST, column: -1, down: false,
      heads: [...section.querySelectorAll("th")],
      status: section.querySelector(".rows"), more: section.querySelector(".more"),
      cut: section.querySelector(".cut"),
    };
  });

  const number = (value) => value.toLocaleString("en");
  const textOf = (row) => (row.text ??= row.element.textContent.toLowerCase());
  const keyOf = (row, column) => (row.keys[column] ??= row.element.cells[column].dataset.s ?? row.element.cells[column].textContent);

  const show = (table) => {
    const { rows, kept, limit } = table;
    table.body.replaceChildren(...kept.slice(0, limit).map((row) => row.element));
    const left = kept.length - Math.min(limit, kept.length);
    table.more.hidden = left === 0;
    table.more.firstElementChild.textContent = `Show ${number(left)} more`;
    const count = kept.length === rows.length ? number(rows.length) : `${number(kept.length)} of ${number(rows.length)}`;
    table.cut.hidden = kept.length <= PAPER;
    table.cut.firstElementChild.textContent = number(kept.length - PAPER);
    table.status.textContent = `${count} ${rows.length === 1 ? "row" : "rows"}`;
  };

  const filter = (table, words) => {
    table.kept = words.length === 0 ? table.sorted : table.sorted.filter((row) => words.every((word) => textOf(row).includes(word)));
  };

  const sort = (table, column) => {
    const numbers = table.rows.every((row) => /^-?[0-9]+$/.test(keyOf(row, column)));
    table.down = table.column === column ? !table.down : numbers;
    table.column = column;
    const way = table.down ? -1 : 1;
    const compare = numbers ? (a, b) => a - b : order;
    table.sorted = [...table.rows].sort((one, other) => way * compare(keyOf(one, column), keyOf(other, column)) || one.place - other.place);
    table.heads.forEach((head, place) => {
      if (place === column) head.setAttribute("aria-sort", table.down ? "descending" : "ascending");
      else head.removeAttribute("aria-sort");
    });
    filter(table, words());
    show(table);
  };

  const input = document.getElementById("filter");
  const found = document.getElementById("found");
  const words = () => input.value.toLowerCase().split(/\s+/).filter(Boolean);
  const filterAll = () => {
    const wanted = words();
    let count = 0;
    for (const table of tables) {
      filter(table, wanted);
      table.limit = FIRST;
      show(table);
      count += table.kept.length;
      table.section.closest("details.fold")?.toggleAttribute("open", wanted.length > 0 && table.kept.length > 0);
    }
    found.textContent = wanted.length === 0 ? "" : `${number(count)} rows match`;
  };

  document.documentElement.classList.add("js");
  input.form.hidden = false;
  input.form.addEventListener("submit", (event) => event.preventDefault());
  input.addEventListener("input", filterAll);
  for (const table of tables) {
    table.heads.forEach((head, column) => head.firstElementChild.addEventListener("click", () => sort(table, column)));
    table.more.firstElementChild.addEventListener("click", () => { table.limit = Infinity; show(table); });
    show(table);
    table.section.querySelector(".long")?.classList.remove("long");
  }
})();
