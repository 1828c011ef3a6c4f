/** Marks the section being read in the table of contents. */

const links = new Map([...document.querySelectorAll('.zl-toc a')].map((link) => [link.getAttribute('href')?.slice(1) ?? '', link]));

if (links.size && 'IntersectionObserver' in window) {
  const sections = [...document.querySelectorAll('.zl-cell[id]')];
  /** @type {Element|undefined} */
  let marked;
  const mark = () => {
    let current;
    for (const section of sections) {
      if (section.getBoundingClientRect().top > innerHeight / 3) break;
      current = links.get(section.id) ?? current;
    }
    if (current === marked) return;
    marked?.removeAttribute('aria-current');
    current?.setAttribute('aria-current', 'true');
    marked = current;
  };
  // Runs when a section crosses the upper third of the window, not on every scroll event.
  const observer = new IntersectionObserver(mark, { rootMargin: '0px 0px -66% 0px', threshold: [0, 1] });
  for (const section of sections) observer.observe(section);
}
