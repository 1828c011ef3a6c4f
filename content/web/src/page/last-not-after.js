/**
 * The index of the last entry whose `name` is not above `value`; 0 if there is none. The entries are sorted by it.
 * @template {string} Name
 * @param {Record<Name, number>[]} entries @param {Name} name @param {number} value
 */
export function lastNotAfter(entries, name, value) {
  let [low, high] = [0, entries.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (entries[middle][name] <= value) low = middle;
    else high = middle - 1;
  }
  return low;
}
