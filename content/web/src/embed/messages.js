// What an embedded page and the page around it say to each other: "zero-ledger/1". Pure; README.md has it in words.

export const PROTOCOL = 'zero-ledger/1';
export const EVENTS = ['height', 'ready', 'predicted', 'ran', 'checked', 'completed', 'statement'];
const VERDICTS = ['right', 'mistake', 'near', 'wrong', 'skipped'];
const STATUSES = ['ok', 'error', 'timeout', 'stopped', 'killed', 'crashed'];
const MAX_HEIGHT_PX = 100_000;

const isText = (/** @type {any} */ value) => typeof value === 'string' && value.length <= 500;
const isCount = (/** @type {any} */ value) => Number.isFinite(value) && value >= 0;
const isFlag = (/** @type {any} */ value) => typeof value === 'boolean';
const isOneOf = (/** @type {any[]} */ list) => (/** @type {any} */ value) => list.includes(value);

/** @type {Record<string, Record<string, (value: any) => boolean>>} Fields of each event beside zero, type, item, name and seq. */
const FIELDS = {
  height: { height: (value) => isCount(value) && value <= MAX_HEIGHT_PX },
  ready: { kind: isText, lang: isText },
  predicted: { value: (value) => value === null || isCount(value), unit: isText, confidence: isOneOf([null, 1, 2, 3]), skipped: isFlag },
  ran: { status: isOneOf(STATUSES), elapsedMs: isCount },
  checked: { verdict: isOneOf(VERDICTS), right: isFlag },
  completed: { success: isFlag },
  statement: { statement: (value) => typeof value === 'object' && value !== null && typeof value.verb?.id === 'string' },
};

/**
 * What is wrong with an event from an embedded page; '' when it is sound.
 * @param {any} message
 */
export function problemWith(message) {
  if (message?.zero !== PROTOCOL) return `zero: ${JSON.stringify(message?.zero)}; accepted: ${PROTOCOL}`;
  const fields = Object.hasOwn(FIELDS, message.type) ? FIELDS[message.type] : undefined;
  if (!fields) return `type: ${JSON.stringify(message.type)}; accepted: ${EVENTS.join(', ')}`;
  const all = { item: isText, name: isText, seq: isCount, ...fields };
  const bad = Object.entries(all).find(([name, isGood]) => !isGood(message[name]));
  return bad ? `${message.type}.${bad[0]}: ${JSON.stringify(message[bad[0]])}` : '';
}

/**
 * The events that a greeting asks for; null when it is none.
 * @param {any} message @returns {string[]|null}
 */
export function eventsWanted(message) {
  if (message?.zero !== PROTOCOL || message.type !== 'hello' || !Array.isArray(message.wants)) return null;
  return message.wants.filter((/** @type {any} */ one) => EVENTS.includes(one));
}
