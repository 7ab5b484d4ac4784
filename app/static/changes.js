// The versions of a change, made quicker to write: an editor each, Ctrl+Enter.
const known = new WeakSet();

colourAll();
document.addEventListener("updated", colourAll);
document.addEventListener("keydown", (event) => {
  const form = event.target.closest("form:has(textarea[data-editor])");
  if (form && event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});

function colourAll() {
  for (const field of document.querySelectorAll("textarea[data-editor]")) {
    if (known.has(field)) continue;
    known.add(field);
    const folded = field.closest("details:not([open])");
    if (folded) folded.addEventListener("toggle", () => colour(field), { once: true });
    else colour(field);
  }
}

/** An editor weighs more than a page: it is loaded where it is seen. */
async function colour(field) {
  const { edit } = await import(field.dataset.editor);
  edit(field);
}
