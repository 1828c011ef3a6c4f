/** Everything a page of the course needs at once; editor and Python come later, when they are asked for. */
import '../page/page.css';
import '../page/language.js';
import '../page/theme.js';
import '../page/gate.js'; // before what reads the text's headings
import '../page/contents.js';
import '../page/explorer.js';
import '../page/predict.js';
import '../page/live-cells.js';
import '../page/progress.js';
import '../page/home.js';
import '../page/linked.js'; // after the elements that it fills
import '../page/timeline.css';
import '../offline/keep.js';
import '../offline/update.js';
import '../embed/build-page.css';

/** What only some pages hold, or hold back until a prediction is made. */
function bringToLife() {
  if (document.querySelector('zero-parallel')) import('../page/parallel.js');
  if (document.querySelector('zero-timeline')) import('../page/timeline-element.js');
}
bringToLife();
document.addEventListener('zero-predict', bringToLife);
if (document.querySelector('zero-measured')) import('../page/measured.js');
if (document.querySelector('zero-estimators')) import('../page/estimators.js');
if (document.querySelector('zero-question')) import('../page/quiz.js');
if (document.getElementById('zl-questions')) import('../page/calibration.js');
if (document.querySelector('[data-part=builder]')) import('../embed/build-page.js');
