// A result: what can be copied is copied by a button.
import { forget, remember } from "./history.js";
import { byId, enhance, forgetText } from "./keep.js";

enhance();
const mine = byId("mine");
if (mine) {
  const { id, at, until, file } = mine.dataset;
  const badge = mine.querySelector(".badge").textContent;
  remember({ id, at, until, file, badge, words: mine.querySelector("h1").textContent });
  forgetText(); // what was sent has its answer: the form begins empty
  byId("delete").addEventListener("submit", () => forget(id));
}
for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", () => copy(button));
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
