// The editor, which a page loads when a cell needs it. In the classic script of /cell/, embed/load-editor.js stands here.

/** @returns {Promise<typeof import('./editor.js')>} */
export const loadEditor = () => import('./editor.js');
