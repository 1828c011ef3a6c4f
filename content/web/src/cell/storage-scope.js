// Whose data in this browser's storage. The site's own pages share one scope, ''; an embedded page has its own, so that
// two embeds do not see each other's answers.

let scope = '';

/** To be called before anything is read or kept. @param {string} name */
export function setStorageScope(name) {
  scope = name;
}

/** What every key starts with. @returns {string} */
export function keyPrefix() {
  return scope ? `zero:${scope}:` : 'zero:';
}

/** @param {'localStorage'|'sessionStorage'} name @returns {Storage|null} null where the browser forbids even to look */
export function storageOrNull(name) {
  try {
    return globalThis[name];
  } catch {
    return null;
  }
}
