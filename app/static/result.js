// A result: what can be copied is copied by a button.
import { forget, remember } from "./history.js";
import { byId, forgetText } from "./keep.js";

own();
document.addEventListener("updated", own);
document.addEventListener("click", ({ target }) => {
  const button = target.closest("[data-copy]");
  if (button) copy(button);
});
document.addEventListener("submit", ({ target }) => {
  if (target.id === "delete" && byId("mine")) forget(byId("mine").dataset.id);
});

/** Puts one's own result on the list. */
function own() {
  const mine = byId("mine");
  if (!mine) return;
  const { id, at, until, file, words } = mine.dataset;
  const badge = mine.querySelector(".badge").textContent;
  remember({ id, at, until, file, badge, words });
  forgetText(); // what was sent has its answer: the form begins empty
}

async function copy(button) {
  const source = byId(button.dataset.copy);
  const text = "value" in source ? source.value : source.textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    return say(button, "Copying is not allowed here");
  }
  say(button, "Copied");
}

function say(button, text) {
  const before = button.dataset.label ?? button.textContent;
  button.dataset.label = before;
  button.textContent = text;
  byId("copied").textContent = text;
  setTimeout(() => (button.textContent = before), 1600);
}
