// Browser storage. If it is disabled, nothing is stored.

/** Reads a value of this tab or, with `forLong`, of this browser. Returns null if there is none. */
export function kept(name, { forLong = false } = {}) {
  try {
    return (forLong ? localStorage : sessionStorage).getItem(name);
  } catch {
    return null;
  }
}

export function keep(name, value, { forLong = false } = {}) {
  try {
    (forLong ? localStorage : sessionStorage).setItem(name, value);
  } catch { /* The value only lasts until the page is reloaded. */ }
}
