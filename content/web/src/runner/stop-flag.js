// Stop for a worker that is busy: without cross-origin isolation there is no shared memory and a busy worker takes no
// message, but it can look, synchronously, whether a blob URL still exists. The supervisor revokes the URL to say Stop.

/** Supervisor's side: a flag that can be raised once. */
export class StopFlag {
  constructor() {
    this.url = URL.createObjectURL(new Blob(['']));
  }

  raise() {
    URL.revokeObjectURL(this.url);
  }
}

/**
 * Worker's side. Takes what it needs before the realm is neutered.
 * @returns {(url: string) => boolean} true when the flag behind `url` was raised
 */
export function makeFlagReader() {
  const Request = XMLHttpRequest;
  const { open, send } = Request.prototype;
  return (url) => {
    try {
      const request = new Request();
      open.call(request, 'GET', url, false);
      send.call(request);
      return false;
    } catch {
      return true;
    }
  };
}
