// Live progress, from the event stream; the server's page is read again as more is known.
import { byId, enhance } from "./keep.js";

const box = byId("progress-box");
const steps = byId("steps");
const stage = byId("stage");
const bar = byId("progress");
const since = Date.parse(box.dataset.since);
const events = new EventSource(box.dataset.events);
const told = new Set([...steps.children].map((step) => step.textContent));
let found = Number(box.dataset.known);

enhance();
setInterval(tick, 1000);
events.addEventListener("progress", (event) => show(JSON.parse(event.data)));
for (const kind of ["cause", "patch"]) events.addEventListener(kind, more);
events.addEventListener("done", again);
// What is deleted ends its stream, too: the page that says so comes from the form.
box.querySelector("form")?.addEventListener("submit", () => events.close());
events.addEventListener("error", () => {
  if (events.readyState === EventSource.CLOSED) setTimeout(again, 3000);
});

function tick() {
  const seconds = Math.max(0, Math.round((Date.now() - since) / 1000));
  byId("elapsed").textContent = `${seconds} s`;
}

function show({ done, total, message }) {
  if (message !== stage.textContent && !told.has(message)) {
    add(stage.textContent);
    stage.textContent = message;
  }
  if (total > 1 && done) {
    bar.max = total;
    bar.value = done;
  } else {
    bar.removeAttribute("value"); // it moves, without saying how far
  }
  byId("count").textContent = total > 1 ? `${done} of ${total}` : "";
}

function add(text) {
  if (told.has(text)) return;
  told.add(text);
  const step = document.createElement("li");
  step.textContent = text;
  steps.append(step);
}

/** The stream tells everything from the first event on: what the page shows already is passed over. */
function more() {
  found -= 1;
  if (found < 0) again();
}

function again() {
  events.close();
  location.reload();
}
