// Runs bytecode_in_pyodide.py inside the site's own Pyodide, under Node, so that its compiler makes the byte code.
// node bytecode.mjs PYODIDE_FOLDER SCRIPT INPUT_ZIP OUTPUT_ZIP_GZ
import { readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

const [pyodideFolder, script, input, output] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodideFolder}/pyodide.mjs`).href);
const pyodide = await loadPyodide({
  indexURL: pyodideFolder,
  // Columns in tracebacks need the source text, which the archives leave out; without them a quarter less is sent.
  env: { PYTHONNODEBUGRANGES: '1' },
});
pyodide.FS.writeFile('/input.zip', await readFile(input));
pyodide.runPython(await readFile(script, 'utf8'));
pyodide.runPython('compile_archive("/input.zip", "/output.zip")');
await writeFile(output, gzipSync(pyodide.FS.readFile('/output.zip'), { level: 9 }));
