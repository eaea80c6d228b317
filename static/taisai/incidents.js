// Comfort only: advice and precedents that keep up with their form, fields that are not asked for put away, and a file
// that is too large told before it is sent. Without this script the buttons "Show advice" and "Look again" and the server
// do the same.
const PAUSE = 250; // milliseconds of quiet before the server is asked

// Keeps a piece of the page up with some fields of a form; `fresh` is told when it came.
function keepUp(form, { address, asked, piece, changed = () => {}, fresh = () => {} }) {
  let waiting, latest;

  async function ask() {
    const data = new FormData(form);
    const query = new URLSearchParams(asked.filter((name) => data.get(name)).map((name) => [name, data.get(name)]));
    const mine = (latest = query.toString());
    try {
      const answer = await fetch(`${address}?${mine}`, { headers: { Accept: "text/html" } });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const found = page.querySelector(piece);
      if (!answer.ok || !found || mine !== latest) return;
      document.querySelector(piece).replaceWith(found);
      fresh(found);
    } catch {
      // the button is there again, and asks in the plain way
      form.classList.remove("in-alive");
    }
  }

  function heard(event) {
    changed();
    if (!asked.includes(event.target.name)) return;
    clearTimeout(waiting);
    waiting = setTimeout(ask, PAUSE);
  }

  form.classList.add("in-alive");
  changed();
  form.addEventListener("input", heard);
  form.addEventListener("change", heard);
}

const incident = document.querySelector("#incident-form");

if (incident) {
  keepUp(incident, {
    address: incident.dataset.advice,
    asked: ["casino", "table", "occurred_from", "occurred_to", "situation", "known_dice", "settled", "in_time", "with_chips", "rounds", "patrons"],
    piece: "#advice",
    changed() {
      const situation = incident.elements.situation.value;
      for (const fact of incident.querySelectorAll("[data-fact]")) {
        const isAsked = situation && fact.dataset.fact.split(" ").includes(situation);
        fact.hidden = !isAsked && !fact.querySelector(".errors");
      }
    },
  });
}

const ruling = document.querySelector("#ruling-form");

if (ruling) {
  keepUp(ruling, {
    address: ruling.dataset.precedents,
    asked: ["kind", "question", "rules", "replaces"],
    piece: "#precedents",
    changed() {
      for (const part of ruling.querySelectorAll("[data-when]")) {
        const [name, value] = part.dataset.when.split("=");
        part.hidden = new FormData(ruling).get(name) !== value && !part.querySelector(".errors");
        // what is put away is not sent
        for (const field of part.querySelectorAll("input, select, textarea")) field.disabled = part.hidden;
      }
    },
    fresh(found) {
      const stands = ruling.querySelector("#stands");
      if (!stands) return;
      stands.hidden = !found.dataset.standing && !stands.querySelector(".errors");
      ruling.elements.standing.value = found.dataset.standing;
    },
  });
}

const evidence = document.querySelector("#evidence-form");

if (evidence) {
  const file = evidence.querySelector("input[type=file]");
  const fault = evidence.querySelector("#file-fault");
  const isTooLarge = () => file.files.length > 0 && file.files[0].size > Number(file.dataset.largest);
  const tell = () => (fault.textContent = isTooLarge() ? file.dataset.tooLarge : "");
  file.addEventListener("change", tell);
  evidence.addEventListener("submit", (event) => {
    if (isTooLarge()) event.preventDefault();
    tell();
  });
}
