// What the browser keeps of this page; one that is told to keep nothing keeps nothing.

/** What is kept by a name, for as long as the tab is open or, with `forLong`, for good; null if there is nothing. */
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
  } catch { /* It works all the same, until the page is loaded again. */ }
}
