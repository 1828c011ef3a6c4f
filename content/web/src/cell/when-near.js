// Call once when an element comes near the viewport or gets the focus.

const MARGIN = '300px';

/**
 * @param {Element} element
 * @param {() => void} callback
 * @returns {() => void} stops watching
 */
export function whenNear(element, callback) {
  let done = false;
  const finish = () => {
    stop();
    callback();
  };
  const observer = new IntersectionObserver(
    (entries) => entries.some((entry) => entry.isIntersecting) && finish(),
    { rootMargin: MARGIN },
  );
  const stop = () => {
    if (done) return;
    done = true;
    observer.disconnect();
    element.removeEventListener('focusin', finish);
  };
  observer.observe(element);
  element.addEventListener('focusin', finish);
  return stop;
}
