// Sleep without heating the processor. C's sleep, which time.sleep comes down to, asks this clock again and again until its
// time has come, and nothing else asks it. Let each question take a millisecond.

/**
 * @param {() => number} now milliseconds
 * @returns {() => number} the same; where the engine allows it, after a rest
 */
export function restBetweenLooks(now) {
  const cell = neverWoken();
  if (!cell) return now;
  const { wait } = Atomics;
  return () => {
    wait(cell, 0, 0, 1);
    return now();
  };
}

/**
 * Atomics.wait needs shared memory. Without special headers it cannot be sent to anyone, but it can be had, and here there is
 * nobody to share it with.
 * @returns {Int32Array|null}
 */
function neverWoken() {
  try {
    const { buffer } = new WebAssembly.Memory({ initial: 1, maximum: 1, shared: true });
    const cell = new Int32Array(buffer);
    Atomics.wait(cell, 0, 0, 0);
    return cell;
  } catch {
    return null;
  }
}
