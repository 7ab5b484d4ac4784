// In a notebook's page: puts a fixed cell in place of the one whose text it was made from.
(() => {
  const box = document.currentScript.parentElement;
  const editors = () => Array.from(document.querySelectorAll(".cm-content"));
  const text = (editor) =>
    Array.from(editor.querySelectorAll(".cm-line"), (line) => line.textContent).join("\n");

  // The editor takes what is pasted over a selection; it sees the selection a moment later.
  const write = (editor, source) => {
    editor.focus();
    document.getSelection().selectAllChildren(editor);
    setTimeout(() => {
      const clipboardData = new DataTransfer();
      clipboardData.setData("text/plain", source);
      const paste = { clipboardData, bubbles: true, cancelable: true };
      editor.dispatchEvent(new ClipboardEvent("paste", paste));
    }, 100);
  };

  for (const button of box.querySelectorAll("button[data-before]")) {
    const { before, source } = button.dataset;
    if (!editors().length) continue; // the output stands in a frame of its own
    button.hidden = false;
    button.addEventListener("click", () => {
      const own = button.closest(".jp-Cell");
      const found = editors().filter((editor) => text(editor).trim() === before.trim());
      const cell = found.find((editor) => own?.contains(editor)) ?? found[0];
      if (cell) write(cell, source);
      button.disabled = Boolean(cell);
      button.textContent = cell
        ? "Replaced: run the cell again"
        : "That cell has changed: use %gradmend fix";
    });
  }
})();
