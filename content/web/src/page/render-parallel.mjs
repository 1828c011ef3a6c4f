/** Build step in node: reads {grid, strings, start, id} as JSON from stdin, writes the inside of a <zero-parallel>. */
import { parallelHtml, usableSettings } from './parallel-view.js';

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { grid, strings, start, id } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
process.stdout.write(parallelHtml(grid, usableSettings(grid, start, start), strings, id));
