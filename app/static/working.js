// Live progress, from the event stream; the finished page replaces this one.
import { byId, enhance } from "./keep.js";

const steps = byId("steps");
const stage = byId("stage");
const bar = byId("progress");
const events = new EventSource(steps.dataset.events);
const told = new Set([...steps.children].map((step) => step.textContent));
let current = stage.dataset.said ?? "";

enhance();
events.addEventListener("progress", (event) => show(JSON.parse(event.data)));
events.addEventListener("cause", (event) => add(`Found: ${JSON.parse(event.data).title}`));
events.addEventListener("done", finish);
events.addEventListener("error", () => {
  if (events.readyState === EventSource.CLOSED) setTimeout(finish, 3000);
});

function show({ done, total, message }) {
  if (message !== current && !told.has(message)) {
    if (current) add(current);
    current = message;
    stage.textContent = message;
  }
  if (total > 1) {
    bar.max = total;
    bar.value = done;
  } else {
    bar.removeAttribute("value");
  }
}

function add(text) {
  if (told.has(text)) return;
  told.add(text);
  const step = document.createElement("li");
  step.textContent = text;
  steps.append(step);
}

function finish() {
  events.close();
  location.reload();
}
