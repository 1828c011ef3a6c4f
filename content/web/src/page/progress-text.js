/** The line that says how much of a lesson is done. */
import { text } from './page-data.js';
import { asPlace, lessonProgress } from './progress-data.js';
import { settledPrediction } from './settled.js';
import { recallData } from './store.js';

/** Where the reader stopped in the lesson; null if they have not been there. @param {string} slug */
export function placeIn(slug) {
  return asPlace(recallData(`place:${slug}`));
}

/** "2 of 4 predictions made · 45% read"; '' for a lesson not begun. @param {string} slug @param {string[]} exercises */
export function progressLine(slug, exercises) {
  const { made, skipped, count, percent, begun } = lessonProgress(exercises.map(settledPrediction), placeIn(slug));
  if (!begun) return '';
  const parts = count ? [text('page.progress.predictions', { made, count })] : [];
  if (skipped) parts.push(text('page.progress.skipped', { skipped }));
  if (percent) parts.push(text('page.progress.read', { percent }));
  return parts.join(' · ');
}
