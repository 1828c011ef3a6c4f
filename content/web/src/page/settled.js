/** Whether the reader is done with an exercise. */
import { recallData } from './store.js';

/** The reader's prediction for exercise `id`, committed or skipped; null while there is none or only a draft. @param {string} id @returns {any} */
export function settledPrediction(id) {
  const stored = recallData(`predict:${id}`);
  return stored && !stored.draft ? stored : null;
}
