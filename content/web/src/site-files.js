// What is published beside the bundles: all of it lies in one folder whose name holds the hash of its content
// (content/publish/dist.py), so that scripts and data of two builds never mix.

/** @param {string} name as below <site>/static/zero-…/, e.g. `exercises/zero1-20b-4.json` @returns {URL} */
export const bundledFile = (name) => new URL(name, import.meta.url);
