// The code stands behind the # of the link: put it into the form and take it out of the address and the history.
const field = document.querySelector("#account-form [name=token]");
const code = window.location.hash.slice(1);
if (field && code) {
  field.value = code;
  window.history.replaceState(null, "", window.location.pathname);
}
if (field && field.value) {
  document.querySelector("[data-field=token]").hidden = true;
}
