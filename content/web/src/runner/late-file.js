// A file in Python's file system that, if a blob, is read when Python first wants it, and not before.

/** Call while the realm still has its FileReaderSync. @param {any} fs Emscripten's @param {string} path @param {ArrayBuffer|Blob} source @returns {() => void} reads it now */
export function addLateFile(fs, path, source) {
  const reader = new FileReaderSync();
  const read = reader.readAsArrayBuffer.bind(reader);
  fs.writeFile(path, '');
  const { node } = fs.lookupPath(path);
  let contents = source instanceof Blob ? undefined : new Uint8Array(source);
  Object.defineProperty(node, 'contents', {
    get: () => (contents ??= new Uint8Array(read(/** @type {Blob} */ (source)))),
    set: (changed) => (contents = changed),
  });
  node.usedBytes = source instanceof Blob ? source.size : source.byteLength;
  return () => void node.contents;
}
