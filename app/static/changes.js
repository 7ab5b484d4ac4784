// The versions of a change, made quicker to write: an editor each, Ctrl+Enter.
import { enhance } from "./keep.js";

enhance();
for (const field of document.querySelectorAll("textarea[data-editor]")) {
  import(field.dataset.editor).then(({ edit }) => edit(field));
  field.form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) field.form.requestSubmit();
  });
}
