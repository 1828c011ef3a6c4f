// Statements shaped as xAPI's, without anything about the person: the actor is "a reader of this site". Pure.

const VERBS = /** @type {Record<string, {id: string, display: Record<string, string>}>} */ ({
  predicted: { id: 'urn:zero-ledger:verb:predicted', display: { en: 'predicted', 'zh-CN': '作了预测' } },
  ran: { id: 'urn:zero-ledger:verb:ran', display: { en: 'ran', 'zh-CN': '运行了' } },
  checked: { id: 'urn:zero-ledger:verb:checked', display: { en: 'checked', 'zh-CN': '检查了' } },
  completed: { id: 'http://adlnet.gov/expapi/verbs/completed', display: { en: 'completed', 'zh-CN': '完成了' } },
});

/** Whether an event has a statement. @param {string} type */
export function hasStatement(type) {
  return Object.hasOwn(VERBS, type);
}

/**
 * @param {any} event one of messages.js that hasStatement
 * @param {{site: string, title: string, lang: string, id: string, time: string}} about `id` a fresh UUID, `time` ISO 8601
 */
export function statementOf(event, { site, title, lang, id, time }) {
  return {
    id,
    timestamp: time,
    actor: { objectType: 'Agent', account: { homePage: site, name: 'anonymous' } },
    verb: VERBS[event.type],
    object: {
      objectType: 'Activity',
      id: `${site}cell/?id=${encodeURIComponent(event.item).replaceAll('%2F', '/')}`,
      definition: { name: { [lang]: title }, type: 'http://adlnet.gov/expapi/activities/interaction' },
    },
    ...resultOf(event),
  };
}

/** @param {any} event */
function resultOf(event) {
  if (event.type === 'predicted') {
    const response = event.skipped ? 'skipped' : `${event.value} ${event.unit}`;
    return { result: { response, ...(event.confidence ? { extensions: { 'urn:zero-ledger:confidence': event.confidence } } : {}) } };
  }
  if (event.type === 'ran') return { result: { success: event.status === 'ok', duration: `PT${(event.elapsedMs / 1000).toFixed(2)}S` } };
  if (event.type === 'checked') return { result: { success: event.right, response: event.verdict } };
  return { result: { success: event.success, completion: true } };
}
