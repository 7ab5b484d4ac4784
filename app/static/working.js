// Live progress, from the event stream; what becomes known meanwhile is put into the page.
import { byId } from "./keep.js";
import { renew } from "./renew.js";

const AGAIN_MS = 3000;
const main = byId("main");
const { events: address, since } = byId("progress-box").dataset;
let events = null;
let waiting = 0;
let asked = Promise.resolve();

follow();
const clock = setInterval(tick, 1000);
// What is deleted ends its stream, too: the page that says so comes from the form.
main.addEventListener("submit", ({ target }) => target.closest("#progress-box") && events.close());

/** Follows the events from the first one on; those that the page shows already change nothing. */
function follow() {
  let found = 0;
  events = new EventSource(address);
  events.addEventListener("progress", (event) => show(JSON.parse(event.data)));
  for (const kind of ["cause", "patch"]) {
    events.addEventListener(kind, () => {
      found += 1;
      if (found > Number(byId("progress-box")?.dataset.known)) update();
    });
  }
  events.addEventListener("done", () => {
    events.close();
    update();
  });
  events.addEventListener("error", () => {
    if (events.readyState === EventSource.CLOSED) later();
  });
}

function tick() {
  const seconds = Math.max(0, Math.round((Date.now() - Date.parse(since)) / 1000));
  byId("elapsed").textContent = `${seconds} s`;
}

function show({ done, total, message }) {
  const [stage, steps, bar] = ["stage", "steps", "progress"].map(byId);
  const shown = new Set([...steps.children].map((step) => step.textContent));
  if (message !== stage.textContent && !shown.has(message)) {
    const step = document.createElement("li");
    step.textContent = stage.textContent;
    if (!shown.has(step.textContent)) steps.append(step);
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

/** Puts what the server knows by now into the page, one answer after the other. */
function update() {
  asked = asked.then(updated, updated);
}

async function updated() {
  if (!byId("progress-box")) return;
  let text = "";
  try {
    text = await (await fetch(location.pathname)).text();
  } catch {
    return later();
  }
  const page = new DOMParser().parseFromString(text, "text/html");
  document.title = page.title;
  document.body.className = page.body.className;
  renew(main, page.getElementById("main"));
  document.dispatchEvent(new Event("updated"));
  if (byId("progress-box")) {
    if (events.readyState === EventSource.CLOSED) later();
  } else {
    events.close();
    clearInterval(clock);
    byId("copied").textContent = main.querySelector(".badge, h1").textContent;
  }
}

/** The stream is over, and the page is not: the server went away, or is not yet done. */
function later() {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    if (!byId("progress-box")) return;
    if (events.readyState === EventSource.CLOSED) follow();
    update();
  }, AGAIN_MS);
}
