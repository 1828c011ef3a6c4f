// What build.mjs defines.
declare const PART_BYTES: { wasm: number; asm: number; stdlib: number; zeroledger: number };
declare const PYODIDE_LOCK_INFO: Record<string, string>;
declare const SNAPSHOT_KEY: string;
/** The files of python/, compiled: marshalled code in base64. */
declare const PYTHON_CODE: Record<string, string>;
