// Comfort only: a click changes the page in place instead of loading it anew. Without this file plain forms do the same.
let busy = false;

document.addEventListener("submit", async (event) => {
  const form = event.target;
  if (!form.matches("#practice form")) return;
  event.preventDefault();
  if (busy) return;
  busy = true;
  const { name, value } = event.submitter ?? {};
  try {
    const answer = await fetch(location.pathname, { method: "POST", body: new FormData(form, event.submitter) });
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const fresh = page.querySelector("#practice");
    if (!answer.ok || !fresh) throw new Error("not the practice page");
    document.querySelector("#practice").replaceWith(fresh);
    const same = [...fresh.querySelectorAll("button")].filter((one) => one.name === name && one.value === value);
    same.find((one) => one.checkVisibility())?.focus({ preventScroll: true });
  } catch {
    location.reload();
  } finally {
    busy = false;
  }
});
