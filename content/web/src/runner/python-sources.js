// The runner's Python files as text, inlined by the build.

import boot from './python/boot.py';
import cell from './python/cell.py';
import guard from './python/guard.py';
import harden from './python/harden.py';
import loop from './python/loop.py';
import pictures from './python/pictures.py';
import restore from './python/restore.py';
import tracebacks from './python/tracebacks.py';

/** @type {Record<string, string>} */
export default { boot, cell, guard, harden, loop, pictures, restore, tracebacks };
