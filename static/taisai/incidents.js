// Comfort only: advice that keeps up with the form, fields that the situation does not ask for put away, and a file that
// is too large told before it is sent. Without this script the button "Show advice" and the server do the same.
const ASKED = ["casino", "table", "occurred_from", "situation", "known_dice", "settled", "rounds", "patrons"];
const PAUSE = 250; // milliseconds of quiet before the advice is asked for
const form = document.querySelector("#incident-form");

function putAway() {
  const situation = form.elements.situation.value;
  for (const fact of form.querySelectorAll("[data-fact]")) {
    const isAsked = situation && fact.dataset.fact.split(" ").includes(situation);
    fact.hidden = !isAsked && !fact.querySelector(".errors");
  }
}

let waiting, latest;

async function advise() {
  const data = new FormData(form);
  const asked = new URLSearchParams(ASKED.filter((name) => data.get(name)).map((name) => [name, data.get(name)]));
  const mine = (latest = asked.toString());
  try {
    const answer = await fetch(`${form.dataset.advice}?${mine}`, { headers: { Accept: "text/html" } });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("#advice");
    if (answer.ok && fresh && mine === latest) document.querySelector("#advice").replaceWith(fresh);
  } catch {
    // the button is there again, and asks in the plain way
    form.classList.remove("in-alive");
  }
}

if (form) {
  form.classList.add("in-alive");
  putAway();
  const changed = (event) => {
    if (!ASKED.includes(event.target.name)) return;
    putAway();
    clearTimeout(waiting);
    waiting = setTimeout(advise, PAUSE);
  };
  form.addEventListener("input", changed);
  form.addEventListener("change", changed);
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
