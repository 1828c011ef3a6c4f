// What Python is made of, for a frame without an origin: each part gzipped, in base64, in a script that calls zeroData.

import { scriptData } from '../page/site-data.js';

/**
 * A stand-in for fetch that PartsLoader can use.
 * @param {URL|string|Request} url of a part @returns {Promise<Response>}
 */
export async function fetchPart(url) {
  const address = new URL(String(url));
  const packed = await scriptData(`parts/${address.pathname.split('/').pop()}`);
  const bytes = Uint8Array.from(atob(packed), (char) => char.charCodeAt(0));
  const response = new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip')));
  Object.defineProperty(response, 'url', { value: address.href }); // for the message when it breaks off
  return response;
}
