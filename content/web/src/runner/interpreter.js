// A classic blob worker inside the sandboxed frame: one Python interpreter. Student code runs in this realm.

import './hide-import-scripts.js';
import { CrashStack } from './crash-stack.js';
import { capFiles } from './file-cap.js';
import { GuardClock } from './guard.js';
import { addLateFile } from './late-file.js';
import { MemoryCap } from './memory-cap.js';
import { MemoryImage, imageOf } from './memory-image.js';
import { makeIterationInterruptible, terminatesNoLoops } from './interruptible-iteration.js';
import { neuter } from './neuter.js';
import { OutputBatcher } from './output.js';
import { MAX_LIMIT_MS, MAX_MEMORY_BYTES, PYTHON_MODULES } from './protocol.js';
import { importModule, startPyodide } from './pyodide-boot.js';
import { makeFlagReader } from './stop-flag.js';

/** @typedef {import('./protocol.js').CellRequest} CellRequest */
/** @typedef {import('./protocol.js').CellReport} CellReport */

const WARM_UP_AFTER_MS = 150; // a run that was clicked early goes first
const NO_MEMORY = `MemoryError: the program needed more than the ${MAX_MEMORY_BYTES / 2 ** 20} MB that it may use`;
const LEDGER_PATH = '/zeroledger.zip';
const STDLIB_PATH = '/lib/python314.zip'; // Pyodide's name for it

/** @typedef {{asm: Promise<any>, image: Promise<MemoryImage|null>}} Prepared */
/** @typedef {Omit<import('./protocol.js').InterpreterParts, 'asm'|'memory'> & Prepared} Parts */

/** @type {Prepared} */
let prepared;

self.onmessage = (event) => {
  const { type, asm, memory, parts, makeSnapshot } = event.data;
  if (type === 'prepare') prepared = { asm: importModule(asm), image: readImage(memory) };
  if (type === 'boot') {
    self.onmessage = null;
    boot({ ...parts, ...prepared }, event.ports[0], makeSnapshot);
  }
};

self.postMessage({ type: 'awake' });

/** @param {Blob|null} memory @returns {Promise<MemoryImage|null>} */
async function readImage(memory) {
  return memory && new MemoryImage(await memory.arrayBuffer());
}

/**
 * @param {Parts} parts
 * @param {MessagePort} port to the supervisor; only closures below can reach it
 * @param {boolean} makeSnapshot
 */
async function boot(parts, port, makeSnapshot) {
  const postMessage = MessagePort.prototype.postMessage.bind(port);
  const post = (/** @type {any} */ message) => postMessage(message);
  try {
    const { run, warmUp } = await makeInterpreter(parts, makeSnapshot, post);
    port.onmessage = (event) => run(event.data);
    post({ type: 'ready' });
    setTimeout(warmUp, WARM_UP_AFTER_MS);
  } catch (error) {
    post({ type: 'failed', message: describe(error) });
  }
}

/**
 * @param {Parts} parts
 * @param {boolean} makeSnapshot
 * @param {(message: any) => void} post
 * @returns {Promise<{run: (request: CellRequest) => void, warmUp: () => void}>}
 */
async function makeInterpreter(parts, makeSnapshot, post) {
  const clock = new GuardClock();
  const crash = new CrashStack();
  const isFlagRaised = makeFlagReader();
  let nonce = 0;
  const output = new OutputBatcher((pieces) => post({ type: 'output', nonce, pieces }));
  const memory = new MemoryCap();

  const [asm, image] = await Promise.all([parts.asm, parts.image]);
  const pyodide = await startPyodide({ ...parts, asm, image }, clock.poll, memory, makeSnapshot);
  const lateFiles = [addLateFile(pyodide.FS, LEDGER_PATH, parts.zeroledger)];
  if (image) lateFiles.push(addLateFile(pyodide.FS, STDLIB_PATH, parts.stdlib));
  else loadRunner(pyodide);
  capFiles(pyodide.FS);
  if (makeSnapshot) postSnapshot(pyodide, post);
  if (terminatesNoLoops()) makeIterationInterruptible(pyodide, () => clock.breakIfDue());
  connectOutput(pyodide, output, clock, crash);
  const { runCell, warmUp } = preparePython(pyodide, lateFiles);
  pyodide.setInterruptBuffer(new Uint8Array(1)); // makes Python ask; clock.poll is what answers
  // gc.get_objects() in Python can still reach the API object: leave it empty.
  for (const key of Reflect.ownKeys(pyodide)) Reflect.deleteProperty(pyodide, key);
  neuter();

  /** @param {CellRequest} request */
  const run = (request) => {
    ({ nonce } = request);
    post({ type: 'begun', nonce });
    memory.ranOut = false;
    output.reset();
    clock.start(Math.min(request.limitMs, MAX_LIMIT_MS), () => isFlagRaised(request.stopUrl));
    const report = callPython(() => runCell(request.source, request.session, request.result), clock, crash, memory);
    const { broken } = clock;
    clock.clear();
    output.flush();
    report.truncated = output.budget.exceeded;
    report.spent ||= broken || memory.ranOut;
    post({ type: 'done', nonce, report });
  };
  return { run, warmUp };
}

/**
 * @param {() => string} call
 * @param {GuardClock} clock
 * @param {CrashStack} crash
 * @param {MemoryCap} memory
 * @returns {CellReport}
 */
function callPython(call, clock, crash, memory) {
  try {
    return { truncated: false, spent: false, ...parseOutcome(call()) };
  } catch (error) {
    const ended = clock.reason === 'limit' ? 'timeout' : clock.reason === 'stop' ? 'stopped' : null;
    const noMemory = clock.reason === null && memory.explains(error);
    const cause = noMemory ? NO_MEMORY : clock.reason === null ? describe(error) : '';
    return {
      status: ended ?? (noMemory ? 'error' : 'crashed'),
      value: null,
      picture: null,
      error: [crash.describe(), cause].filter(Boolean).join('\n') || null,
      errorType: clock.reason === 'output' ? 'OutputLimitExceeded' : noMemory ? 'MemoryError' : null,
      truncated: false,
      // Anything but an ordinary end leaves the interpreter in an unknown state.
      spent: true,
    };
  }
}

/** @param {string} text @returns {any} what cell.py returned; throws if the reader's code came between */
function parseOutcome(text) {
  const outcome = JSON.parse(text);
  if (typeof outcome?.status !== 'string') throw new TypeError('the runner was tampered with');
  return outcome;
}

/** @param {any} pyodide @param {OutputBatcher} output @param {GuardClock} clock @param {CrashStack} crash */
function connectOutput(pyodide, output, clock, crash) {
  /** @param {import('./protocol.js').OutputKind} kind */
  const stream = (kind) => ({
    isatty: false,
    /** @param {Uint8Array} bytes */
    write(bytes) {
      if (crash.happened) crash.write(bytes);
      else output.write(kind, bytes);
      if (output.budget.exceeded) clock.end('output');
      return bytes.length;
    },
  });
  pyodide.setStdout(stream('out'));
  pyodide.setStderr(stream('err'));
}

/** Load the runner's Python files. @param {any} pyodide */
function loadRunner(pyodide) {
  const load = pyodide.runPython(
    `def load(name, code):
    import binascii, builtins, marshal, sys, types
    module = types.ModuleType(name)
    module.__builtins__ = dict(vars(builtins))  # the reader may bend the common ones
    sys.modules[name] = module
    exec(marshal.loads(binascii.a2b_base64(code)), module.__dict__)
    return module
load`,
    { filename: '<zero-runner load>' },
  );
  for (const name of PYTHON_MODULES) load(name, PYTHON_CODE[name]).destroy();
  load.destroy();
}

/**
 * Send Python's memory as it is now, with what nearly every cell imports. It must hold no JavaScript objects of ours.
 * @param {any} pyodide @param {(message: any) => void} post
 */
function postSnapshot(pyodide, post) {
  pyodide.runPython(`__import__('boot').warm_up('${LEDGER_PATH}')`, { filename: '<zero-runner load>' });
  try {
    post({ type: 'snapshot', memory: imageOf(pyodide) });
  } catch (error) {
    console.warn(`no snapshot of Python: ${describe(error)}`); // a spare all the same
  }
}

/**
 * @param {any} pyodide
 * @param {(() => void)[]} lateFiles what reads them
 * @returns {{runCell: (source: string, session: string, result: string) => string, warmUp: () => void}}
 */
function preparePython(pyodide, lateFiles) {
  const boot = pyodide.runPython("__import__('boot')", { filename: '<zero-runner load>' });
  const cellRunner = boot.prepare(LEDGER_PATH);
  const warmUp = () => {
    lateFiles.forEach((read) => read());
    boot.warm_up(LEDGER_PATH);
  };
  return { runCell: cellRunner.run, warmUp };
}

/** @param {unknown} error */
function describe(error) {
  return String(error instanceof Error ? `${error.name}: ${error.message}` : error).slice(0, 2000);
}
