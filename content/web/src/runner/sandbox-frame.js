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
  frame.src = url.href;
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
    frame.addEventListener('error', () => reject(new Error('the sandbox frame could not be loaded')));
  });
  document.body.append(frame);
  return { frame, port: port1, connected: /** @type {Promise<void>} */ (connected) };
}
