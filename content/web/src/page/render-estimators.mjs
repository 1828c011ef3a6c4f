/** Build step in node: reads {told, strings, asked} as JSON from stdin, writes the table of estimators. */
import { estimatorsHtml } from './estimators-view.js';

const chunks = [];
for await (const chunk of process.stdin) chunks.push(chunk);
const { told, strings, asked } = JSON.parse(Buffer.concat(chunks).toString('utf8'));
process.stdout.write(estimatorsHtml(told, strings, asked));
