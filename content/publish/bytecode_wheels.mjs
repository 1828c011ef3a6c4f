// Runs bytecode_in_pyodide.py on every wheel of a folder, inside the site's own Pyodide.
// node bytecode_wheels.mjs PYODIDE_FOLDER SCRIPT INPUT_FOLDER OUTPUT_FOLDER
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { pathToFileURL } from 'node:url';

const [pyodideFolder, script, input, output] = process.argv.slice(2);
const { loadPyodide } = await import(pathToFileURL(`${pyodideFolder}/pyodide.mjs`).href);
// As in bytecode.mjs: columns in tracebacks need the source text.
const pyodide = await loadPyodide({ indexURL: pyodideFolder, env: { PYTHONNODEBUGRANGES: '1', PYTHONWARNINGS: 'ignore' } });
pyodide.runPython(await readFile(script, 'utf8'));
const compileWheel = pyodide.globals.get('compile_wheel');
for (const name of await readdir(input)) {
  pyodide.FS.writeFile('/input.whl', await readFile(`${input}/${name}`));
  compileWheel('/input.whl', '/output.whl');
  await writeFile(`${output}/${name}`, pyodide.FS.readFile('/output.whl'));
}
