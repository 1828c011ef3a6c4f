// Bundle the lab's extension: node build-lab.mjs <outdir>
// Writes remoteEntry.<hash>.js (the plugin) and guarded-pyodide.mjs (what the kernels load).

import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const lab = join(dirname(fileURLToPath(import.meta.url)), 'src/lab');
const common = { bundle: true, minify: true, target: 'es2022', charset: 'utf8', legalComments: 'none', loader: { '.py': 'text' }, logLevel: 'warning' };

const [outdirArgument] = process.argv.slice(2);
if (!outdirArgument) {
  console.error('usage: node build-lab.mjs <outdir>');
  process.exit(2);
}
const outdir = resolve(outdirArgument);
await Promise.all([
  build({ ...common, entryPoints: [{ in: join(lab, 'container.js'), out: 'remoteEntry' }], outdir, format: 'iife', entryNames: '[name].[hash]' }),
  build({ ...common, entryPoints: [join(lab, 'guarded-pyodide.js')], outdir, format: 'esm', outExtension: { '.js': '.mjs' } }),
]);
