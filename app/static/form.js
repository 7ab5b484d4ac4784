// The form, made quicker: files by drop, Ctrl+Enter, text kept over a reload.
import { byId, enhance } from "./keep.js";

const form = byId("diagnose");
const files = byId("files");
const attached = byId("attached");
const texts = ["script", "traceback", "filename", "args", "module"].map(byId);
const hint = attached.textContent;

enhance();
restore();
for (const field of texts) field.addEventListener("input", keep);
form.addEventListener("submit", keep);
document.addEventListener("keydown", sendOnEnter);
files.addEventListener("change", () => take([...files.files]));
for (const kind of ["dragover", "dragleave", "drop"]) form.addEventListener(kind, drag);

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
  if (event.type === "drop") take([...event.dataTransfer.files]);
}

/** Puts the script and the traceback among the files into their fields, and attaches the rest. */
async function take(taken) {
  const read = await Promise.all(taken.map(async (file) => ({ file, text: await file.text() })));
  const notes = read.find(
    ({ file, text }) => /\.(txt|log)$/i.test(file.name) && /Traceback|Error/.test(text),
  );
  const scripts = read.filter(({ file }) => /\.(py|ipynb)$/i.test(file.name));
  const traceback = notes?.text ?? byId("traceback").value;
  const main =
    scripts.find(({ file }) => traceback.includes(file.name)) ??
    scripts.find(({ text }) => text.includes(".backward(")) ??
    scripts[0];
  if (notes) byId("traceback").value = notes.text;
  if (main) {
    byId("script").value = main.text;
    byId("filename").value = main.file.name;
  }
  const rest = read.filter((one) => one !== main && one !== notes).map(({ file }) => file);
  const box = new DataTransfer();
  for (const file of rest) box.items.add(file);
  files.files = box.files;
  attached.textContent = summary(main?.file, notes?.file, rest);
  keep();
}

function summary(main, notes, rest) {
  const parts = [];
  if (main) parts.push(`${main.name} is the script`);
  if (notes) parts.push(`${notes.name} is the traceback`);
  if (rest.length) parts.push(`attached: ${rest.map((file) => file.name).join(", ")}`);
  return parts.length ? `${parts.join("; ")}.` : hint;
}
