// One's own results, remembered in this browser alone.
const PLACE = "gradmend.results";
const MOST = 30;

/** The results that are still there, newest first: `[{ id, words, at, until }]`. */
export function results() {
  try {
    const known = JSON.parse(localStorage.getItem(PLACE) ?? "[]");
    return known.filter(({ until }) => Date.parse(until) > Date.now());
  } catch {
    return [];
  }
}

/** Puts a result on top of the list. */
export function remember(result) {
  keep([result, ...results().filter(({ id }) => id !== result.id)]);
}

/** Takes a result off the list; without `gone`, all of them. */
export function forget(gone) {
  keep(gone ? results().filter(({ id }) => id !== gone) : []);
}

function keep(list) {
  try {
    localStorage.setItem(PLACE, JSON.stringify(list.slice(0, MOST)));
  } catch {
    // A browser that keeps nothing has no list.
  }
}
