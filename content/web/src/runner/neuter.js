// Take away from the interpreter's realm what student code could use if it got hold of a JavaScript object.
// The second layer: the frame's opaque origin and its content security policy are the first.

const KEPT = new Set(
  (
    'Object Function Array Number parseFloat parseInt Infinity NaN undefined Boolean String Symbol Date Promise RegExp ' +
    'Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError globalThis ' +
    'JSON Math Intl ArrayBuffer Atomics Uint8Array Int8Array Uint16Array Int16Array Uint32Array Int32Array Float16Array ' +
    'Float32Array Float64Array Uint8ClampedArray BigUint64Array BigInt64Array DataView Map BigInt Set Iterator WeakMap ' +
    'WeakSet WeakRef FinalizationRegistry Proxy Reflect decodeURI decodeURIComponent encodeURI encodeURIComponent ' +
    'isFinite isNaN console WebAssembly self performance setTimeout clearTimeout setInterval clearInterval ' +
    'queueMicrotask TextEncoder TextDecoder crypto AbortController AbortSignal MessageChannel MessagePort EventTarget ' +
    'Event MessageEvent DOMException constructor addEventListener removeEventListener dispatchEvent onerror'
  ).split(' '),
);
const FROZEN = (
  'Object Array Promise Map Set WeakMap RegExp Date String Number Boolean Symbol ArrayBuffer Uint8Array JSON Math ' +
  'Reflect MessagePort MessageEvent Event EventTarget'
).split(' ');
const FUNCTION_KINDS = [function () {}, async function () {}, function* () {}, async function* () {}];
const functionPrototypes = FUNCTION_KINDS.map((f) => Object.getPrototypeOf(f));

/** Remove all of that, for good. Call once, after everything that the runner needs has been taken into closures. */
export function neuter() {
  const globals = /** @type {any} */ (self);
  removeGlobals(globals);
  disableCodeFromStrings(globals);
  freezePrototypes(globals);
}

/** @param {any} globals */
function removeGlobals(globals) {
  for (let owner = globals; owner && owner !== Object.prototype; owner = Object.getPrototypeOf(owner)) {
    for (const key of Reflect.ownKeys(owner)) {
      if (typeof key !== 'string' || KEPT.has(key) || Reflect.deleteProperty(owner, key)) continue;
      try {
        Object.defineProperty(owner, key, { value: undefined });
      } catch {
        // Not configurable: one of the few that the platform fixes (they carry no reach).
      }
    }
  }
}

/** @param {any} globals */
function disableCodeFromStrings(globals) {
  const disabled = function () {
    throw new TypeError('disabled');
  };
  for (const prototype of functionPrototypes) fix(prototype, 'constructor', disabled);
  disabled.prototype = Function.prototype; // `x instanceof Function` must keep working
  fix(globals, 'Function', disabled);
  for (const name of ['setTimeout', 'setInterval']) {
    const original = globals[name];
    /** @type {(f: any, ...rest: any[]) => any} */
    globals[name] = (f, ...rest) => (typeof f === 'function' ? original(f, ...rest) : disabled());
  }
  fix(Error, 'prepareStackTrace', undefined);
}

/** @param {any} globals */
function freezePrototypes(globals) {
  const seen = new Set([/** @type {any} */ (Error)]); // Error.stackTraceLimit must stay writable
  /** @param {any} thing */
  const freeze = (thing) => {
    if ((typeof thing !== 'object' && typeof thing !== 'function') || thing === null || seen.has(thing)) return;
    seen.add(thing);
    for (const key of Reflect.ownKeys(thing)) {
      const property = Reflect.getOwnPropertyDescriptor(thing, key);
      if (property) [property.value, property.get, property.set].forEach(freeze);
    }
    freeze(Object.getPrototypeOf(thing));
    Object.freeze(thing);
  };
  freeze(Error.prototype);
  for (const name of FROZEN) freeze(globals[name]);
  functionPrototypes.forEach(freeze);
}

/** @param {any} owner @param {string} key @param {any} value */
function fix(owner, key, value) {
  Object.defineProperty(owner, key, { value, writable: false, configurable: false });
}
