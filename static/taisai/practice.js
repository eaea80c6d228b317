// Comfort only: a click changes the page in place instead of loading it anew. Without this file plain forms do the same.
// Clicks are sent one after the other, and what is chosen or opened while an answer is awaited stays as it was chosen.
let lastAnswer = Promise.resolve();

document.addEventListener("submit", (event) => {
  const form = event.target;
  if (!form.matches("#practice form")) return;
  event.preventDefault();
  const sent = new FormData(form, event.submitter);
  event.submitter?.closest("details")?.removeAttribute("open");
  const { name, value } = event.submitter ?? {};
  lastAnswer = lastAnswer.then(() => replacePage(sent, name, value)).catch(() => location.reload());
});

async function replacePage(sent, name, value) {
  const answer = await fetch(location.pathname, { method: "POST", body: sent });
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  const fresh = page.querySelector("#practice");
  if (!answer.ok || !fresh) throw new Error("not the practice page");
  const stale = document.querySelector("#practice");
  keepChoices(stale, sent, fresh);
  stale.replaceWith(fresh);
  const same = [...fresh.querySelectorAll("button")].filter((one) => one.name === name && one.value === value);
  same.find((one) => one.checkVisibility())?.focus({ preventScroll: true });
}

function keepChoices(stale, sent, fresh) {
  const form = fresh.querySelector("form");
  for (const [name, value] of new FormData(stale.querySelector("form"))) {
    if (sent.get(name) !== value && form?.elements[name]) form.elements[name].value = value;
  }
  const details = fresh.querySelectorAll("form details");
  stale.querySelectorAll("form details").forEach((one, place) => {
    if (one.open && details[place]) details[place].open = true;
  });
}
