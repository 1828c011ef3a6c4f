/** What the explorer shows, as a small plain object that can be stored and read back. Pure; no DOM. */

/**
 * @typedef {import('./ledger-view.js').Grid} Grid
 * @typedef {import('./ledger-view.js').Selection} Selection
 * @typedef {{model?: string, dp_size?: number, stage?: number, unit?: string, zoom?: boolean}} Stored
 */

export const START = { model: '7b', dp_size: 8, stage: 1, unit: 'GB', zoom: false };

/**
 * The selection that `stored` names; whatever it lacks, or the grid does not have, is taken from START.
 * @param {Grid} grid @param {Stored} [stored] @param {import('./ledger-view.js').GridModel|null} [custom] the reader's own model
 * @returns {Selection}
 */
export function selectionFrom(grid, stored = {}, custom = null) {
  const wanted = { ...START, ...stored };
  const known = wanted.model === 'custom' ? custom : grid.models.find(({ id }) => id === wanted.model);
  const dpIndex = grid.dp_sizes.indexOf(wanted.dp_size);
  return {
    model: known ?? grid.models[0],
    dpIndex: dpIndex >= 0 ? dpIndex : grid.dp_sizes.indexOf(START.dp_size),
    stage: grid.stages[wanted.stage] ? wanted.stage : START.stage,
    unit: wanted.unit === 'GiB' ? 'GiB' : 'GB',
    zoom: wanted.zoom === true,
  };
}

/** @param {Grid} grid @param {Selection} selection @returns {Stored} */
export function storedFrom(grid, { model, dpIndex, stage, unit, zoom }) {
  return { model: model.id, dp_size: grid.dp_sizes[dpIndex], stage, unit, zoom };
}
