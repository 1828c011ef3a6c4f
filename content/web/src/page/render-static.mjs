/**
 * Build step in node: reads {grid, strings, start: {model, dp_size, stage, unit}, id} as JSON from stdin, writes
 * {explorer, charts} as JSON: the HTML that pages show before any script runs, and for ever where scripts are off.
 */
import { chartsHtml, explorerHtml } from './ledger-view.js';
import { selectionFrom } from './selection.js';

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { grid, strings, start, id } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
const selection = selectionFrom(grid, start);
process.stdout.write(JSON.stringify({
  explorer: explorerHtml(grid, selection, strings, id),
  charts: chartsHtml(grid, selection, strings, id),
}));
