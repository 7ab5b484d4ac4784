// Small things that both the form and a result need.

/** The element with this id. */
export const byId = (id) => document.getElementById(id);

const KEPT = "form.";

/** Keeps a field's text over a reload of the form. */
export const keepText = (field) => sessionStorage.setItem(KEPT + field.id, field.value);

/** What was kept of a field; empty where nothing was. */
export const keptText = (field) => sessionStorage.getItem(KEPT + field.id) ?? "";

/** Forgets what was kept of all fields. */
export function forgetText() {
  for (const key of Object.keys(sessionStorage)) {
    if (key.startsWith(KEPT)) sessionStorage.removeItem(key);
  }
}
