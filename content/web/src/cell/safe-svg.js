// An SVG from code that nobody vouches for, built anew from what is known to be harmless: shapes, text, gradients. No
// script, no style sheet, no event handler, no link or picture from anywhere, nothing that multiplies what is drawn.

const SVG = 'http://www.w3.org/2000/svg';
const MAX_ELEMENTS = 20_000;
const MAX_DEPTH = 50;

const ELEMENTS = new Set(
  ('svg g path rect circle ellipse line polyline polygon text tspan title desc defs ' +
    'linearGradient radialGradient stop clipPath').split(' '),
);
const ATTRIBUTES = new Set(
  ('id x y x1 x2 y1 y2 cx cy r rx ry fx fy dx dy d points width height viewBox preserveAspectRatio transform rotate ' +
    'fill fill-opacity fill-rule stroke stroke-width stroke-opacity stroke-dasharray stroke-dashoffset stroke-linecap ' +
    'stroke-linejoin stroke-miterlimit opacity color visibility clip-path clip-rule clipPathUnits offset stop-color stop-opacity ' +
    'gradientUnits gradientTransform spreadMethod font-family font-size font-weight font-style text-anchor ' +
    'dominant-baseline alignment-baseline baseline-shift letter-spacing textLength lengthAdjust').split(' '),
);
// Numbers, colours, names, path data, transforms; url() only for an element of this very picture.
const VALUE = /^(?:url\(#[\w-]+\)|(?!.*(?:url|expression|image|var|env|attr)\s*\()[^\\@{};<>]*)$/is;

/** @param {string} source @returns {{text: string, title: string}|null} the picture and what it says it shows; null if it is no SVG */
export function safeSvg(source) {
  const parsed = new DOMParser().parseFromString(source, 'image/svg+xml').documentElement;
  if (parsed.namespaceURI !== SVG || parsed.localName !== 'svg') return null;
  const budget = { elements: MAX_ELEMENTS };
  const root = copyOf(parsed, document.implementation.createDocument(SVG, null), budget, 0);
  if (!root) return null;
  const title = [...root.children].find((child) => child.localName === 'title');
  return { text: new XMLSerializer().serializeToString(root), title: title?.textContent?.trim() ?? '' };
}

/**
 * @param {Element} element @param {Document} owner @param {{elements: number}} budget @param {number} depth
 * @returns {Element|null} null if it is not allowed, or too much
 */
function copyOf(element, owner, budget, depth) {
  const isAllowed = element.namespaceURI === SVG && ELEMENTS.has(element.localName);
  if (!isAllowed || depth > MAX_DEPTH || budget.elements === 0) return null;
  budget.elements -= 1;
  const copy = owner.createElementNS(SVG, element.localName);
  for (const [name, value] of allowedAttributes(element)) copy.setAttribute(name, value);
  for (const child of element.childNodes) {
    if (child instanceof Text) copy.append(owner.createTextNode(child.data));
    else if (child instanceof Element) copy.append(...[copyOf(child, owner, budget, depth + 1)].filter((made) => made !== null));
  }
  return copy;
}

/** @param {Element} element @returns {Iterable<[string, string]>} attributes, and the declarations of `style` as such */
function* allowedAttributes(element) {
  for (const { name, value } of element.attributes) {
    if (name === 'style') yield* value.split(';').map(declaration).filter(isAllowed);
    else if (isAllowed([name, value])) yield [name, value];
  }
}

/** @param {string} text @returns {[string, string]} */
function declaration(text) {
  const colon = text.indexOf(':');
  return [text.slice(0, Math.max(0, colon)).trim(), text.slice(colon + 1).trim()];
}

/** @param {[string, string]} attribute */
function isAllowed([name, value]) {
  return ATTRIBUTES.has(name) && VALUE.test(value.trim());
}
