// Comfort only: edited cells are marked while one types, a row is filled without loading the page, and only edited
// cells are sent. Without this file the same form works by plain posts.
const form = document.querySelector("#limits-form");
const cells = [...form.querySelectorAll("input[data-base]")];
const count = form.querySelector("#edited-count");

// Thousands separated by commas or by spaces, in groups of exactly three digits; anything else stays as it was typed.
const grouped = /^\d{1,3}(?:(?:,\d{3})+|(?: \d{3})+)(?:\.\d*)?$/;
const ungrouped = (text) => (grouped.test(text) ? text.replace(/[, ]/g, "") : text);
const plain = (text) => ungrouped(text.trim()).replace(/^[-–]$/, "").replace(/\.0{1,2}$/, "");
const isEdited = (cell) => plain(cell.value) !== plain(cell.dataset.base);

function mark(cell) {
  cell.parentElement.classList.toggle("ts-edited", isEdited(cell));
  cell.parentElement.classList.toggle("ts-emptied", isEdited(cell) && plain(cell.value) === "");
}

function tally() {
  const edited = cells.filter(isEdited).length;
  count.textContent = `${edited} value${edited === 1 ? "" : "s"} edited`;
}

form.addEventListener("input", (event) => {
  if (!event.target.matches("input[data-base]")) return;
  mark(event.target);
  tally();
});

form.addEventListener("click", (event) => {
  const button = event.target.closest("button[name=row]");
  if (!button) return;
  event.preventDefault();
  const row = button.closest("tr");
  for (const whole of row.querySelectorAll(".ts-whole input[type=text]")) {
    const [figure, , ...key] = whole.name.split(".");
    if (whole.value.trim() === "") continue;
    for (const cell of row.querySelectorAll("input[data-base]")) {
      const [own, table] = cell.name.split(".");
      const use = form.elements[`use.${table}`];
      if (own === figure && use?.checked && cell.name.endsWith(key.join("."))) {
        cell.value = whole.value.trim();
        mark(cell);
      }
    }
    whole.value = "";
  }
  tally();
});

form.addEventListener("keydown", (event) => {
  if (!["ArrowUp", "ArrowDown"].includes(event.key) || !event.target.matches(".ts-limits-grid input[type=text]")) return;
  event.preventDefault();
  const step = event.key === "ArrowUp" ? "previousElementSibling" : "nextElementSibling";
  const [figure, table] = event.target.name.split(".");
  for (let row = event.target.closest("tr")[step]; row; row = row[step]) {
    const inputs = [...row.querySelectorAll("input[type=text]")].filter((one) => one.name.split(".")[1] === table);
    const same = inputs.find((one) => one.name.startsWith(`${figure}.`)) ?? inputs[0];
    if (!same) continue;
    same.focus();
    same.select();
    return;
  }
});

form.addEventListener("formdata", (event) => {
  for (const cell of cells) if (!isEdited(cell) && cell.value.trim() === cell.dataset.base) event.formData.delete(cell.name);
});
