// The notebooks and consoles that a kernel belongs to: finding the cell that runs, restarting, writing into the cell.

/**
 * @typedef {object} Trackers JupyterLab's; either may be missing in an app that has no notebooks or consoles
 * @property {any} notebooks
 * @property {any} consoles
 */

/** @param {Trackers} trackers @param {string} kernelId @returns {any[]} notebook panels and consoles of this kernel */
export function panelsOf({ notebooks, consoles }, kernelId) {
  /** @type {any[]} */
  const found = [];
  for (const tracker of [notebooks, consoles]) {
    tracker?.forEach((/** @type {any} */ panel) => {
      if (panel.sessionContext?.session?.kernel?.id === kernelId) found.push(panel);
    });
  }
  return found;
}

/** @param {any[]} panels @returns {any} the model of the first code cell that is running, or null */
export function runningCell(panels) {
  for (const panel of panels) {
    for (const cell of panel.content?.widgets ?? []) {
      if (cell.model?.type === 'code' && cell.model.executionState === 'running') return cell.model;
    }
  }
  return null;
}

/** @param {any} cellModel @param {string} words shown like what a program writes to stderr */
export function writeIntoCell(cellModel, words) {
  cellModel.outputs.add({ output_type: 'stream', name: 'stderr', text: `${words}\n` });
}
