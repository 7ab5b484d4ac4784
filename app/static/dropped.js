// What was dropped or chosen, as files with their paths; folders with all they hold.
const LEFT_OUT = /(^|\/)(\.[^/]*|__pycache__|__MACOSX|node_modules|venv|site-packages)(\/|$)/;
const MOST = 63; // what one request takes with its script
const LARGEST = 2 ** 20;

/** The files behind a drop: `[{ path, file }]`. */
export async function dropped(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return chosen(transfer.files);
  return sent((await Promise.all(entries.map(within))).flat());
}

/** The files of a file field, or of a folder field. */
export function chosen(list) {
  return sent([...list].map((file) => ({ path: file.webkitRelativePath || file.name, file })));
}

async function within(entry, folder = "") {
  const path = folder + entry.name;
  if (LEFT_OUT.test(path)) return [];
  if (entry.isFile) return [{ path, file: await new Promise((...done) => entry.file(...done)) }];
  const reader = entry.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((...done) => reader.readEntries(...done));
    if (!some.length) break;
    found.push(...some);
  }
  return (await Promise.all(found.map((one) => within(one, `${path}/`)))).flat();
}

/** Sources first, then what is small; as many as one request takes. */
function sent(files) {
  const rank = ({ path }) => (/\.(py|ipynb|zip|txt|log)$/i.test(path) ? 0 : 1);
  return files
    .filter(({ path, file }) => !LEFT_OUT.test(path) && file.size <= LARGEST)
    .sort((a, b) => rank(a) - rank(b))
    .slice(0, MOST + 1);
}
