// Bundle the browser parts: node build.mjs <outdir> [entry …]
// Every src/entries/*.js (or those named) becomes <outdir>/*.js; sandbox.html gets its three scripts and its script hash.

import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, 'src');
const pyodide = join(here, 'node_modules/pyodide');

const sizeOf = async (path) => (await stat(path)).size;
const lock = JSON.parse(await readFile(join(pyodide, 'pyodide-lock.json'), 'utf8'));

const common = {
  bundle: true,
  minify: true,
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  loader: { '.py': 'text' },
  define: {
    PART_BYTES: JSON.stringify({
      wasm: await sizeOf(join(pyodide, 'pyodide.asm.wasm')),
      asm: await sizeOf(join(pyodide, 'pyodide.asm.mjs')),
      stdlib: await sizeOf(join(pyodide, 'python_stdlib.zip')),
    }),
    PYODIDE_LOCK_INFO: JSON.stringify({ ...lock.info, version: JSON.parse(await readFile(join(pyodide, 'package.json'), 'utf8')).version }),
  },
  logLevel: 'warning',
};

/** @param {string} outdir @param {string[]} wanted names without .js; none means all */
async function bundleEntries(outdir, wanted) {
  const all = (await readdir(join(source, 'entries'))).filter((name) => name.endsWith('.js')).sort();
  const entries = wanted.length ? wanted.map((name) => `${name}.js`) : all;
  await build({
    ...common,
    entryPoints: entries.map((name) => join(source, 'entries', name)),
    outdir,
    loader: { ...common.loader, '.woff2': 'file', '.svg': 'file' },
    format: 'esm',
    splitting: true,
    chunkNames: 'chunk-[hash]',
    assetNames: '[name]-[hash]',
  });
}

/** @param {string} name @returns {Promise<string>} the text of a classic script, safe inside <script> */
async function classicScript(name) {
  const result = await build({
    ...common,
    entryPoints: [join(source, 'runner', name)],
    format: 'iife',
    write: false,
    // Pyodide's branches for Node are never taken in a worker.
    external: ['node:*', 'ws'],
    supported: { 'dynamic-import': true },
  });
  const text = result.outputFiles[0].text;
  if (/<\/script|<!--/i.test(text)) throw new Error(`${name} holds text that would end its <script> element`);
  return text;
}

/** @param {string} outdir */
async function writeSandbox(outdir) {
  const [frame, supervisor, interpreter, template] = await Promise.all([
    classicScript('frame.js'),
    classicScript('supervisor.js'),
    classicScript('interpreter.js'),
    readFile(join(source, 'runner/sandbox.html'), 'utf8'),
  ]);
  const values = {
    FRAME_HASH: `sha256-${createHash('sha256').update(frame).digest('base64')}`,
    FRAME_SOURCE: frame,
    SUPERVISOR_SOURCE: supervisor,
    INTERPRETER_SOURCE: interpreter,
  };
  const html = template.replace(/FRAME_HASH|FRAME_SOURCE|SUPERVISOR_SOURCE|INTERPRETER_SOURCE/g, (key) => values[key]);
  await writeFile(join(outdir, 'sandbox.html'), html);
}

const [outdirArgument, ...wanted] = process.argv.slice(2);
if (!outdirArgument) {
  console.error('usage: node build.mjs <outdir> [entry …]');
  process.exit(2);
}
const outdir = resolve(outdirArgument);
await mkdir(outdir, { recursive: true });
await Promise.all([bundleEntries(outdir, wanted), writeSandbox(outdir)]);
