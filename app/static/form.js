// The form, made quicker: an editor, files and folders by drop, Ctrl+Enter, text kept over a reload.
import { chosen, dropped } from "./dropped.js";
import { forget, results } from "./history.js";
import { byId, enhance } from "./keep.js";

const form = byId("diagnose");
const files = byId("files");
const folder = byId("folder");
const summary = byId("attached");
const script = byId("script");
const traceback = byId("traceback");
const texts = ["script", "traceback", "filename", "args", "module"].map(byId);
const hint = summary.textContent;
let attached = []; // { path, file }, beside the script

enhance();
restore();
for (const field of texts) field.addEventListener("input", keep);
form.addEventListener("submit", keep);
form.addEventListener("formdata", attach);
document.addEventListener("keydown", sendOnEnter);
for (const field of [files, folder]) {
  field.addEventListener("change", () => take(chosen(field.files)));
}
for (const kind of ["dragover", "dragleave", "drop"]) form.addEventListener(kind, drag);
byId("examples-form").addEventListener("submit", show);
list();
byId("history").querySelector("button").addEventListener("click", () => (forget(), list()));
if (script.dataset.editor) import(script.dataset.editor).then(({ edit }) => colour(edit(script)));

/** The results of this browser, with the day of each. */
function list() {
  const section = byId("history");
  const items = results().map(({ id, words, at }) => {
    const link = Object.assign(document.createElement("a"), { href: `/d/${id}`, textContent: words });
    const item = document.createElement("li");
    item.append(link, ` ${new Date(at).toLocaleDateString()}`);
    return item;
  });
  section.querySelector("ul").replaceChildren(...items);
  section.hidden = !items.length;
}

/** The editor marks the line at which the traceback ends, whichever of the two changes. */
function colour(editor) {
  const mark = () => editor.mark(failingLine(traceback.value, script.value));
  for (const kind of ["input", "change"]) {
    for (const field of [script, traceback]) field.addEventListener(kind, mark);
  }
  mark();
}

/** The last line that the traceback quotes and that stands so in the script; 0 where none does. */
function failingLine(told, text) {
  const lines = text.split("\n").map((line) => line.trim());
  let last = 0;
  for (const [, at, code, arrow, quoted] of told.matchAll(
    /\bline (\d+)[^\n]*\n *(\S[^\n]*)|^-+> ?(\d+) ([^\n]*)/gm,
  )) {
    const number = Number(at ?? arrow);
    if (lines[number - 1] && lines[number - 1] === (code ?? quoted).trim()) last = number;
  }
  return last;
}

function fill(field, text) {
  field.value = text;
  field.dispatchEvent(new Event("change"));
}

function keep() {
  for (const field of texts) sessionStorage.setItem(`form.${field.id}`, field.value);
}

function restore() {
  if (texts.some((field) => field.value)) return keep();
  for (const field of texts) field.value = sessionStorage.getItem(`form.${field.id}`) ?? "";
}

function sendOnEnter(event) {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
}

function drag(event) {
  if (!event.dataTransfer?.types.includes("Files")) return;
  event.preventDefault();
  form.classList.toggle("dropping", event.type === "dragover");
  if (event.type === "drop") dropped(event.dataTransfer).then(take);
}

/** An example stands in the form, too, for whoever comes back to change it. */
async function show(event) {
  event.preventDefault();
  const name = event.submitter.value;
  const answer = await fetch(`/examples/${name}`);
  const example = await answer.json();
  for (const field of texts) fill(field, example[field.id] ?? "");
  keep();
  const named = Object.assign(document.createElement("input"), { name: "example", value: name });
  named.hidden = true;
  event.target.append(named);
  event.target.submit();
}

/** Puts the script and the traceback among the files into their fields, and attaches the rest. */
async function take(taken) {
  const read = await Promise.all(
    taken.map(async (one) => ({ ...one, text: isText(one) ? await one.file.text() : "" })),
  );
  const notes = read.find(
    ({ path, text }) => /\.(txt|log)$/i.test(path) && /Traceback|Error/.test(text),
  );
  if (notes) fill(traceback, notes.text);
  const main = mainScript(read.filter(({ path }) => /\.(py|ipynb)$/i.test(path)));
  const rest = read.filter((one) => one !== main && one !== notes);
  const root = main ? sharedFolder([main, ...rest]) : "";
  if (main) {
    fill(script, main.text);
    fill(byId("filename"), main.path.slice(root.length));
  }
  attached = rest.map(({ path, file }) => ({ path: path.slice(root.length), file }));
  summary.textContent = told(main?.path.slice(root.length), notes?.path);
  files.value = folder.value = "";
  keep();
}

function isText({ path }) {
  return /\.(py|ipynb|txt|log)$/i.test(path);
}

/** The first script that the traceback names, else one that calls backward(). */
function mainScript(scripts) {
  const at = ({ path }) => traceback.value.indexOf(path.split("/").pop());
  const named = scripts.filter((one) => at(one) >= 0).sort((a, b) => at(a) - at(b));
  return named[0] ?? scripts.find(({ text }) => text.includes(".backward(")) ?? scripts[0];
}

/** The one folder that holds all files, with its slash. */
function sharedFolder(taken) {
  const tops = new Set(taken.map(({ path }) => path.slice(0, path.indexOf("/") + 1)));
  return tops.size === 1 ? [...tops][0] : "";
}

function attach({ formData }) {
  formData.delete("files");
  for (const { path, file } of attached) formData.append("files", file, path);
}

function told(main, notes) {
  const parts = [];
  if (main) parts.push(`${main} is the script`);
  if (notes) parts.push(`${notes} is the traceback`);
  if (attached.length) parts.push(`attached: ${attached.map(({ path }) => path).join(", ")}`);
  return parts.length ? `${parts.join("; ")}.` : hint;
}
