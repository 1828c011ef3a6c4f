/**
 * Build step in node: reads {grid, strings, start: {model, dp_size, stage, unit}, id} as JSON from stdin, writes the
 * explorer's HTML. The page shows it before any script runs, and for ever where scripts are off.
 */
import { explorerHtml } from './ledger-view.js';
import { selectionFrom } from './selection.js';

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { grid, strings, start, id } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
process.stdout.write(explorerHtml(grid, selectionFrom(grid, start), strings, id));
