// Which scope of the storage an embedded page uses: its own by default. Embeds share one only where both were given the
// same `state` name on pages of one origin.

/**
 * @param {Window} frame this page's window
 * @param {string} state the name under which embeds share, or ''
 * @param {string} search of the address; theme and language do not count
 */
export function storageScope(frame, state, search) {
  const page = frame.parent === frame ? '' : hostOf(frame);
  return state ? `embed:${page}:state=${state}` : `embed:${page}:${stable(search)}:${placeAmongEquals(frame, search)}`;
}

/** The embedding page's origin, as far as the browser tells. @param {Window} frame */
function hostOf(frame) {
  const ancestors = /** @type {any} */ (frame.location).ancestorOrigins;
  if (ancestors?.length) return ancestors[0];
  try {
    return new URL(frame.document.referrer).origin;
  } catch {
    return '?';
  }
}

/** @param {string} search */
function stable(search) {
  const given = new URLSearchParams(search);
  for (const field of ['theme', 'lang', 'report', 'name']) given.delete(field);
  given.sort();
  return given.toString();
}

/** How many frames with the same address stand before this one in the embedding page. @param {Window} frame @param {string} search */
function placeAmongEquals(frame, search) {
  let before = 0;
  for (const other of siblings(frame)) {
    if (other === frame) break;
    try {
      if (stable(other.location.search) === stable(search)) before += 1;
    } catch {
      // another site's frame
    }
  }
  return before;
}

/** The windows that the embedding page holds, this one among them. @param {Window} frame @returns {Window[]} */
export function siblings(frame) {
  return Array.from({ length: frame.parent.length }, (_, at) => frame.parent[at]);
}
