/**
 * Build step in node: reads {data, strings, id} as JSON from stdin, writes the inside of a <zero-timeline>. The page
 * shows it before any script runs, and for ever where scripts are off.
 */
import { Timeline } from './timeline-data.js';
import { timelineHtml } from './timeline-view.js';

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { data, strings, id } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
process.stdout.write(timelineHtml(new Timeline(data), strings, id));
