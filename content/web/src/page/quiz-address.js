/** What the address of the self-test asks for, and where an item's state is kept. */

const address = new URLSearchParams(location.search);

/** The seed that draws variants; '' for the questions as they stand. */
export const seed = (address.get('seed') ?? '').trim();

/** Whether this is the instructor's answer sheet. */
export const isSheet = address.get('sheet') === '1';

/** Where an item's state is kept: one place for each seed. @param {string} exercise */
export function quizKey(exercise) {
  return seed ? `quiz:${seed}:${exercise}` : `quiz:${exercise}`;
}
