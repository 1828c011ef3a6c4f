// Bundle the browser parts: node build.mjs <outdir> <byte code folder>
// Every src/entries/*.js becomes <outdir>/*.js; offline.js is the service worker; sandbox.html gets its three scripts and its script hash.

import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, 'src');
const pyodide = join(here, 'node_modules/pyodide');

const [outdirArgument, byteCode] = process.argv.slice(2);
if (!outdirArgument || !byteCode) {
  console.error('usage: node build.mjs <outdir> <byte code folder>');
  process.exit(2);
}
const outdir = resolve(outdirArgument);

// What the runner sends into its sandbox, by the names of runner/protocol.js.
const parts = {
  wasm: await readFile(join(pyodide, 'pyodide.asm.wasm')),
  asm: await readFile(join(pyodide, 'pyodide.asm.mjs')),
  stdlib: await readFile(join(byteCode, 'stdlib.zip.gz')),
  zeroledger: await readFile(join(byteCode, 'zeroledger.zip.gz')),
};
// The runner puts that function in parentheses (runner/parts-inbox.js).
if (!/^async function _createPyodideModule\(.*\}export default _createPyodideModule;\n$/s.test(parts.asm.toString())) {
  throw new Error('pyodide.asm.mjs is not one function and its export any more: adapt runner/parts-inbox.js');
}
const lock = JSON.parse(await readFile(join(pyodide, 'pyodide-lock.json'), 'utf8'));

const common = {
  bundle: true,
  minify: true,
  target: 'es2022',
  charset: 'utf8',
  legalComments: 'none',
  define: {
    PART_BYTES: JSON.stringify(Object.fromEntries(Object.entries(parts).map(([name, bytes]) => [name, bytes.length]))),
    PYODIDE_LOCK_INFO: JSON.stringify({ ...lock.info, version: JSON.parse(await readFile(join(pyodide, 'package.json'), 'utf8')).version }),
  },
  logLevel: 'warning',
};

/** @param {string} snapshotKey names what a snapshot of Python's memory is made from */
async function bundleEntries(snapshotKey) {
  const entries = (await readdir(join(source, 'entries'))).filter((name) => name.endsWith('.js')).sort();
  await build({
    ...common,
    define: { ...common.define, SNAPSHOT_KEY: JSON.stringify(snapshotKey) },
    entryPoints: entries.map((name) => join(source, 'entries', name)),
    outdir,
    loader: { ...common.loader, '.woff2': 'file', '.svg': 'file' },
    format: 'esm',
    splitting: true,
    chunkNames: 'chunk-[hash]',
    assetNames: '[name]-[hash]',
  });
}

// What other people's pages load by these very names, and the page /cell/, which has no modules: one classic script each.
const CLASSIC = { 'cell-page': 'embed/cell-page.js', 'cell-editor': 'embed/cell-editor.js', embed: 'embed/embed.js', 'zero-cell': 'embed/foreign-cell.js' };

/** In a classic script the editor is another classic script, loaded when it is asked for. */
const editorApart = {
  name: 'editor-apart',
  setup(build) {
    build.onResolve({ filter: /^\.\/load-editor\.js$/ }, () => ({ path: join(source, 'embed/load-editor.js') }));
  },
};

/** @param {string} snapshotKey as for bundleEntries */
async function bundleClassic(snapshotKey) {
  await build({
    ...common,
    entryPoints: Object.entries(CLASSIC).map(([out, entry]) => ({ in: join(source, entry), out })),
    outdir,
    loader: { ...common.loader, '.woff2': 'file', '.svg': 'file' },
    format: 'iife',
    plugins: [editorApart],
    define: { ...common.define, SNAPSHOT_KEY: JSON.stringify(snapshotKey), 'import.meta.url': 'ZERO_SCRIPT' },
    banner: { js: 'var ZERO_SCRIPT=document.currentScript&&document.currentScript.src;' },
  });
}

const pythonCode = await readFile(join(byteCode, 'runner.json'), 'utf8'); // {module: code in base64}

/** @param {string} name below src/ @returns {Promise<string>} the text of a classic script, safe inside <script> */
async function classicScript(name) {
  const result = await build({
    ...common,
    entryPoints: [join(source, name)],
    define: { ...common.define, PYTHON_CODE: pythonCode },
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

/** @param {{interpreter: string, supervisor: string}} workers their scripts */
async function writeSandbox({ interpreter, supervisor }) {
  const [frame, template] = await Promise.all([
    classicScript('runner/frame.js'),
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

/** @param {{interpreter: string, supervisor: string}} workers @returns {string} a hash of all that decides what is kept for a later visit */
function snapshotKeyOf({ interpreter, supervisor }) {
  const hash = createHash('sha256').update(interpreter).update(supervisor);
  for (const bytes of Object.values(parts)) hash.update(bytes);
  return hash.digest('hex').slice(0, 20);
}

/** The service worker, which the build publishes at the site's root. */
async function writeServiceWorker() {
  await writeFile(join(outdir, 'offline.js'), await classicScript('offline/worker.js'));
}

await mkdir(outdir, { recursive: true });
const workers = { interpreter: await classicScript('runner/interpreter.js'), supervisor: await classicScript('runner/supervisor.js') };
const snapshotKey = snapshotKeyOf(workers);
await Promise.all([bundleEntries(snapshotKey), bundleClassic(snapshotKey), writeSandbox(workers), writeServiceWorker()]);
