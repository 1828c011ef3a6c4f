/** The light/dark button: system, light, dark, system, … An early script in <head> applies a remembered choice. */
import { recall, remember } from './store.js';

const THEMES = ['auto', 'light', 'dark'];
const button = /** @type {HTMLButtonElement|null} */ (document.querySelector('[data-theme-toggle]'));

if (button) {
  const names = (button.dataset.names ?? '').split('|');
  const label = button.getAttribute('aria-label') ?? '';
  const stored = recall('theme') ?? 'auto';
  let index = Math.max(THEMES.indexOf(stored), 0);
  const show = () => {
    if (index === 0) delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = THEMES[index];
    button.title = names[index];
    button.setAttribute('aria-label', `${label}: ${names[index]}`);
  };
  button.addEventListener('click', () => {
    index = (index + 1) % THEMES.length;
    remember('theme', index === 0 ? undefined : THEMES[index]);
    show();
  });
  show();
}
