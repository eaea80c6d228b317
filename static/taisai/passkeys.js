// Passkeys, where the browser has them. What needs one is hidden in the page and shown here; without this file, or in a
// browser without passkeys, the page is the same as before and codes do.
const canUse =
  window.isSecureContext &&
  !/^[\d.]+$|:/.test(window.location.hostname) && // a passkey is bound to a name, never to an address
  typeof window.PublicKeyCredential?.parseCreationOptionsFromJSON === "function" &&
  typeof window.PublicKeyCredential.parseRequestOptionsFromJSON === "function";

const BROKEN = "The site did not answer as expected. Reload the page.";
const REASONS = {
  NotAllowedError: "No passkey was used: it was cancelled or took too long. Try again.",
  InvalidStateError: "This device already has one of your passkeys.",
  SecurityError: "Passkeys do not work at this address of the site.",
};

async function optionsFor(form, address) {
  const body = new URLSearchParams();
  for (const field of form.querySelectorAll("[name=csrfmiddlewaretoken], [name=name]")) body.set(field.name, field.value);
  const answer = await fetch(address, { method: "POST", body });
  if (!answer.headers.get("Content-Type")?.startsWith("application/json")) throw new Error(BROKEN);
  const read = await answer.json();
  if (!answer.ok) throw new Error(read.detail);
  return read;
}

async function made(options) {
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
  return navigator.credentials.create({ publicKey });
}

async function used(options) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
  return navigator.credentials.get({ publicKey });
}

// Ask the server for a challenge and the person for their passkey, then send the form with the answer in it.
async function run(part, form, button) {
  const fault = part.querySelector("[role=alert]");
  const field = part.querySelector("input[type=hidden]");
  fault.textContent = "";
  button.disabled = true;
  try {
    const options = await optionsFor(form, part.dataset.options);
    const credential = await (part.dataset.passkey === "make" ? made : used)(options);
    field.value = JSON.stringify(credential.toJSON());
    field.disabled = false;
    HTMLFormElement.prototype.submit.call(form); // an interrupted form may have a field of the name "submit"
  } catch (error) {
    fault.textContent = REASONS[error.name] ?? error.message;
    button.disabled = false;
  }
}

if (canUse) {
  for (const shown of document.querySelectorAll("[data-needs-passkeys]")) shown.hidden = false;
  for (const missing of document.querySelectorAll("[data-without-passkeys]")) missing.hidden = true;
  for (const part of document.querySelectorAll("[data-passkey]")) {
    const form = part.closest("form");
    const button = part.querySelector("button");
    if (part.dataset.passkey === "make") {
      form.addEventListener("submit", (event) => {
        event.preventDefault();
        if (!button.disabled) run(part, form, button);
      });
    } else {
      button.addEventListener("click", () => run(part, form, button));
    }
  }
}
