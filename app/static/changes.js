// The versions of a change, made quicker to write: an editor each, Ctrl+Enter.
import { enhance } from "./keep.js";

enhance();
for (const field of document.querySelectorAll("textarea[data-editor]")) {
  const folded = field.closest("details:not([open])");
  if (folded) folded.addEventListener("toggle", () => colour(field), { once: true });
  else colour(field);
  field.form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) field.form.requestSubmit();
  });
}

/** An editor weighs more than a page: it is loaded where it is seen. */
async function colour(field) {
  const { edit } = await import(field.dataset.editor);
  edit(field);
}
