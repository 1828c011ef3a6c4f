// Import a browser module in Node as the build would bundle it (JSON and text imports included).
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const web = new URL('../../content/web/', import.meta.url);
const { build } = createRequire(new URL('package.json', web))('esbuild');

/** @param {string} path below content/web/src @returns {Promise<any>} the module */
export async function importBundled(path) {
  const result = await build({
    entryPoints: [fileURLToPath(new URL(`src/${path}`, web))],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2022',
    loader: { '.py': 'text' },
  });
  return import(`data:text/javascript;base64,${Buffer.from(result.outputFiles[0].contents).toString('base64')}`);
}
