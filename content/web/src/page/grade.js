/** Compares chosen options with the key of a question; a look-up, the key comes from the build. Pure; no DOM. */

/** @typedef {{right: boolean, partly: {right: number, wrong: number, missing: number}|null, explain: string[]}} ChoiceGrade */

/**
 * `partly` is set for a wrong many-choice; `explain` names the options whose reason the reader should see: those
 * chosen wrongly, or all that were chosen when right.
 * @param {{kind: string, answer: string[]}} question @param {string[]} given @returns {ChoiceGrade}
 */
export function gradeChoice({ kind, answer }, given) {
  if (kind === 'ordering') return { right: answer.every((id, at) => given[at] === id), partly: null, explain: [] };
  const wrong = given.filter((id) => !answer.includes(id));
  const found = given.length - wrong.length;
  const right = wrong.length === 0 && found === answer.length;
  const partly = kind === 'many-choice' && !right ? { right: found, wrong: wrong.length, missing: answer.length - found } : null;
  return { right, partly, explain: right ? given : wrong };
}
