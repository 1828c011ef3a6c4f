/** Compares a prediction with the answer and the known mistakes; a look-up, the values come from the package. Pure. */

/**
 * @typedef {{id: string, value: number, text: Record<string, string>}} Mistake
 * @typedef {{id: string, answer: number, unit: string, tolerance: number, near: number, code: string, mistakes: Mistake[],
 *   inputs: Record<string, number|string>, answer_expression: string, mistake_expressions: string[]}} Answer  an exercises/<id>.json
 * @typedef {{verdict: 'right'|'mistake'|'near'|'wrong', relativeError: number, mistake: Mistake|null}} Judgement
 */

/**
 * The same rule as lessonkit.bank.judge_values; tests/data/judge_cases.json holds both to it.
 * @param {Pick<Answer, 'answer'|'tolerance'|'near'|'mistakes'>} values @param {number} prediction @returns {Judgement}
 */
export function judge({ answer, tolerance, near, mistakes }, prediction) {
  const relativeError = (prediction - answer) / answer;
  if (Math.abs(relativeError) <= tolerance) return { verdict: 'right', relativeError, mistake: null };
  const mistake = mistakes.find(({ value }) => Math.abs(prediction - value) <= tolerance * value) ?? null;
  if (mistake) return { verdict: 'mistake', relativeError, mistake };
  return { verdict: Math.abs(relativeError) <= near ? 'near' : 'wrong', relativeError, mistake: null };
}
