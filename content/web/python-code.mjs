// The runner's Python files, as the byte code that the build has made of them.

import { gunzipSync } from 'node:zlib';

const LOCAL_HEADER = 0x04034b50;
const PYC_HEADER_BYTES = 16;

/** @param {Buffer} packed runner.zip.gz @returns {Record<string, string>} name → marshalled code in base64 */
export function codeOf(packed) {
  const files = [...storedFiles(gunzipSync(packed))];
  return Object.fromEntries(files.map(([name, bytes]) => [/^<zero-runner (\w+)>\.pyc$/.exec(name)?.[1], bytes.subarray(PYC_HEADER_BYTES).toString('base64')]));
}

/** @param {Buffer} zip whose entries are stored as they are @returns {Generator<[string, Buffer]>} */
function* storedFiles(zip) {
  for (let at = 0; zip.readUInt32LE(at) === LOCAL_HEADER; ) {
    const [length, nameLength, extraLength] = [zip.readUInt32LE(at + 22), zip.readUInt16LE(at + 26), zip.readUInt16LE(at + 28)];
    const start = at + 30 + nameLength + extraLength;
    yield [zip.toString('utf8', at + 30, at + 30 + nameLength), zip.subarray(start, start + length)];
    at = start + length;
  }
}
