// A part of the page as the server has it by now; what did not change is left alone.
const ALIVE = "live"; // data-live: kept up to date by a script

/** Makes `old` what `wanted` is. Equal nodes stay the same nodes, so that focus, selected text and
 * what somebody has opened or chosen survive. */
export function renew(old, wanted) {
  const [focused, chosen] = [document.activeElement, chosenOf(old)];
  become(old, wanted);
  for (const key of chosen) {
    const radio = old.querySelector(`[data-key="${key}"]`);
    if (radio) radio.checked = true;
  }
  if (focused?.isConnected === false) (counterpart(old, focused) ?? old).focus({ preventScroll: true });
}

/** The keys of what somebody has chosen in the place of what the page had chosen. */
function chosenOf(part) {
  const radios = [...part.querySelectorAll("input[type=radio]")];
  return radios.filter((one) => one.checked && !one.defaultChecked).map((one) => one.dataset.key);
}

function counterpart(part, { id, dataset: { key } }) {
  const selector = key ? `[data-key="${key}"]` : id && `#${CSS.escape(id)}`;
  return selector ? part.querySelector(selector) : null;
}

function become(old, wanted) {
  if (old.isEqualNode(wanted) || (old.dataset && ALIVE in old.dataset)) return;
  if (old.nodeType !== Node.ELEMENT_NODE) {
    old.data = wanted.data;
    return;
  }
  for (const { name } of [...old.attributes]) {
    const opened = name === "open" && old.tagName === "DETAILS";
    if (!wanted.hasAttribute(name) && !opened) old.removeAttribute(name);
  }
  for (const { name, value } of wanted.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  children(old, wanted);
}

/** Nothing is moved, since what is moved loses its focus: what has another order is made again. */
function children(parent, wanted) {
  const pairs = paired([...parent.childNodes].filter(isFull), [...wanted.childNodes].filter(isFull));
  const kept = new Set(pairs.values());
  for (const node of [...parent.childNodes]) if (!kept.has(node)) node.remove();
  let next = parent.firstChild;
  for (const node of [...wanted.childNodes]) {
    const old = pairs.get(node);
    if (old) {
      next = old.nextSibling;
      become(old, node);
    } else {
      parent.insertBefore(document.importNode(node, true), next);
    }
  }
}

/** Whether a node is more than the space between two others, which are made again. */
function isFull(node) {
  return node.nodeType !== Node.TEXT_NODE || Boolean(node.data.trim());
}

/** Which old node each wanted one comes from, both in their order: the same ones first, then
 * between those what has at least the same name. */
function paired(olds, wanteds) {
  const pairs = new Map();
  let [i, j] = [0, 0];
  const same = common(olds.map(identity), wanteds.map(identity));
  for (const [o, w] of [...same, [olds.length, wanteds.length]]) {
    for (; j < w; j++) {
      const at = olds.slice(i, o).findIndex((node) => alike(node, wanteds[j]));
      if (at < 0) continue;
      pairs.set(wanteds[j], olds[i + at]);
      i += at + 1;
    }
    if (o < olds.length) pairs.set(wanteds[w], olds[o]);
    [i, j] = [o + 1, w + 1];
  }
  return pairs;
}

/** What two nodes share that are the same: their key, or all that they hold. */
function identity(node) {
  const key = keyOf(node);
  return key ? `${node.nodeName} ${key}` : (node.outerHTML ?? node.data);
}

function keyOf({ dataset, id }) {
  return dataset?.key ?? id ?? "";
}

function alike(old, wanted) {
  return old.nodeName === wanted.nodeName && !(keyOf(old) && keyOf(wanted));
}

/** The longest common subsequence, as pairs of places. */
function common(a, b) {
  const long = Array.from({ length: a.length + 1 }, () => new Uint16Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const equal = a[i] === b[j];
      long[i][j] = equal ? long[i + 1][j + 1] + 1 : Math.max(long[i + 1][j], long[i][j + 1]);
    }
  }
  const found = [];
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) found.push([i++, j++]);
    else if (long[i + 1][j] >= long[i][j + 1]) i++;
    else j++;
  }
  return found;
}
