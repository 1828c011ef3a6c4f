// The page's end of the sandbox: a hidden frame with an opaque origin, and the only port into it.

/**
 * @param {URL} url of sandbox.html
 * @returns {{frame: HTMLIFrameElement, port: MessagePort, connected: Promise<void>}}
 */
export function openSandbox(url) {
  const frame = document.createElement('iframe');
  frame.setAttribute('sandbox', 'allow-scripts');
  frame.hidden = true;
  frame.title = 'Python sandbox';
  frame.tabIndex = -1;
  const { port1, port2 } = new MessageChannel();
  const connected = new Promise((resolve, reject) => {
    /** @param {MessageEvent} event */
    const onMessage = (event) => {
      if (event.source !== frame.contentWindow) return;
      if (event.data?.zeroSandbox === 'failed') reject(new Error(String(event.data.message)));
      if (event.data?.zeroSandbox !== 'loaded') return;
      frame.contentWindow?.postMessage({}, '*', [port2]);
      resolve(undefined);
    };
    addEventListener('message', onMessage);
    const onLost = () => reject(new Error('the sandbox frame could not be loaded'));
    frame.addEventListener('error', onLost);
    showDocument(frame, url).catch(onLost);
  });
  document.body.append(frame);
  return { frame, port: port1, connected: /** @type {Promise<void>} */ (connected) };
}

/**
 * By its address; or, where our service worker answers for the page (../offline/worker.js), by its text, since no service
 * worker answers for a frame with an opaque origin and without a network the frame would stay empty. The document brings
 * its own policy and refers to nothing, so that both come to the same.
 * @param {HTMLIFrameElement} frame @param {URL} url
 */
async function showDocument(frame, url) {
  // In an embed without an origin of its own even to ask for the service worker is an error.
  const controller = globalThis.origin === 'null' ? null : navigator.serviceWorker?.controller;
  if (!controller?.scriptURL.endsWith('/offline.js')) {
    frame.src = url.href;
    return;
  }
  const response = await fetch(url);
  if (!response.ok) throw new Error(`HTTP ${response.status}`);
  frame.srcdoc = await response.text();
}
