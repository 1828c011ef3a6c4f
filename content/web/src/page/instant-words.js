/** The package's names of a predicted step's instants (zeroledger/activation_stack.py and its neighbours), in the reader's language. */
import { fill } from './format.js';

/** @type {[string, RegExp][]} key of the string, and the name with its fields */
const PATTERNS = [
  ['forward_layer', /^forward of layer (?<layer>\d+)$/],
  ['backward_layer', /^backward of layer (?<layer>\d+): (?<op>\w+)$/],
  ['reduce_layer', /^reduce-scatter of layer (?<layer>\d+)$/],
  ['reduce_layer_copy', /^reduce-scatter of layer (?<layer>\d+): copy in$/],
];

/** @param {string} name @param {Record<string, string>} strings @returns {string|null} null for a name without words */
export function instantWords(name, strings) {
  const exact = strings[`page.instant.${name.toLowerCase().replace(/[^a-z0-9]+/g, '_')}`];
  if (exact) return exact;
  for (const [key, pattern] of PATTERNS) {
    const found = pattern.exec(name);
    if (found) return fill(strings[`page.instant.${key}`], /** @type {Record<string, string>} */ (found.groups));
  }
  return null;
}
