// Runs a function of bytecode_in_pyodide.py on files, inside the site's own Pyodide under Node, so that its compiler makes
// the byte code. What is called .gz is packed.
// node bytecode.mjs PYODIDE_FOLDER SCRIPT FUNCTION INPUT OUTPUT [INPUT OUTPUT …]
import { readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

const [pyodideFolder, script, name, ...files] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodideFolder}/pyodide.mjs`).href);
const pyodide = await loadPyodide({
  indexURL: pyodideFolder,
  // Columns in tracebacks need the source text, which is left out; without them a quarter less is sent.
  env: { PYTHONNODEBUGRANGES: '1' },
});
pyodide.runPython(await readFile(script, 'utf8'));
const compile = pyodide.globals.get(name);
for (let at = 0; at < files.length; at += 2) {
  pyodide.FS.writeFile('/input', await readFile(files[at]));
  compile('/input', '/output');
  const made = pyodide.FS.readFile('/output');
  await writeFile(files[at + 1], files[at + 1].endsWith('.gz') ? gzipSync(made, { level: 9 }) : made);
}
