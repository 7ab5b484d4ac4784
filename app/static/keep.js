// Small things that both the form and a result need.

/** The element with this id. */
export const byId = (id) => document.getElementById(id);

/** Shows what only works with a script. */
export function enhance() {
  document.documentElement.classList.add("scripted");
}
