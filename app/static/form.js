// The form, made quicker: an editor, files and folders by drop, Ctrl+Enter, text kept over a reload.
import { chosen, dropped } from "./dropped.js";
import { forget, results } from "./history.js";
import { byId, forgetText, keepText, keptText } from "./keep.js";

const form = byId("diagnose");
const files = byId("files");
const folder = byId("folder");
const summary = byId("attached");
const script = byId("script");
const traceback = byId("traceback");
const texts = ["script", "traceback", "filename", "args", "module"].map(byId);
const MOMENT = { dateStyle: "long", timeStyle: "short" };
const hint = summary.textContent;
let attached = []; // { path, file }, sent with the script

restore();
let known = script.value;
for (const field of texts) field.addEventListener("input", keep);
for (const kind of ["input", "change"]) {
  script.addEventListener(kind, renamed);
  for (const field of [script, traceback]) field.addEventListener(kind, compare);
}
byId("clear").addEventListener("click", clear);
compare();
form.addEventListener("submit", keep);
form.addEventListener("formdata", attach);
document.addEventListener("keydown", sendOnEnter);
for (const field of [files, folder]) {
  field.addEventListener("change", () => take(chosen(field.files)));
}
for (const kind of ["dragover", "dragleave", "drop"]) form.addEventListener(kind, drag);
list();
byId("history").querySelector("button").addEventListener("click", () => (forget(), list()));
if (script.dataset.editor) import(script.dataset.editor).then(({ edit }) => colour(edit(script)));

/** The results of this browser, with the time of each. */
function list() {
  const section = byId("history");
  const items = results().map(({ id, words, at, file, badge }) => {
    const link = Object.assign(document.createElement("a"), { href: `/d/${id}`, textContent: words });
    const item = document.createElement("li");
    const time = new Date(at).toLocaleString("en-GB", MOMENT);
    item.append(link, ` ${[file, badge, time].filter(Boolean).join(" · ")}`);
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
function failingLine(traceback, text) {
  const lines = text.split("\n").map((line) => line.trim());
  let last = 0;
  for (const [, at, code, arrow, quoted] of traceback.matchAll(
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
  texts.forEach(keepText);
}

/** What was typed before a reload, with a way to be rid of it. */
function restore() {
  if (texts.some((field) => field.value)) return keep();
  for (const field of texts) field.value = keptText(field);
  byId("restored").hidden = !texts.some((field) => field.value);
}

function clear() {
  forgetText();
  for (const field of texts) fill(field, "");
  byId("restored").hidden = true;
}

/** The file name belongs to the text: another text is another file, until somebody says which. */
function renamed() {
  const first = known.split("\n").find((line) => line.trim().length > 3);
  const replaced = first !== undefined && !script.value.includes(first);
  if (replaced) byId("filename").value = "";
  if (replaced || !known.trim()) known = script.value;
}

/** Says so where the traceback quotes lines, and none of them is in the script. */
function compare() {
  const lines = new Set(script.value.split("\n").map((line) => line.trim()));
  const quoted = [...traceback.value.matchAll(/\bline \d+[^\n]*\n *([^\s~^][^\n]*)/g)];
  const codes = quoted.map(([, code]) => code.trim());
  const differs = script.value.trim() && codes.length && !codes.some((code) => lines.has(code));
  byId("mismatch").hidden = !differs || attached.length > 0;
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
  summary.textContent = summaryOf(main?.path.slice(root.length), notes?.path);
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

function summaryOf(main, notes) {
  const parts = [];
  if (main) parts.push(`${main} is the script`);
  if (notes) parts.push(`${notes} is the traceback`);
  if (attached.length) parts.push(`attached: ${attached.map(({ path }) => path).join(", ")}`);
  return parts.length ? `${parts.join("; ")}.` : hint;
}
