/** Draws by a seed: the same seed gives everybody the same variants. Pure; no DOM. */

/**
 * The index of the variant, 0 … count − 1, that `seed` draws for the item `id` (FNV-1a over both, then mixed).
 * @param {string} seed @param {string} id @param {number} count
 */
export function variantFor(seed, id, count) {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(`${seed}\n${id}`)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d); // the low bits of FNV alone repeat
  return ((hash ^ (hash >>> 13)) >>> 0) % count;
}
