/** How wide text is, roughly, and text cut to a width. Pure. */

const WIDE = /[⺀-鿿＀-￯　-〿]/;

/** Rough width of `text` in px: a CJK character is as wide as the font, a Latin one about 0.56 of it. @param {string} text @param {number} font */
export function textWidth(text, font) {
  let width = 0;
  for (const character of text) width += WIDE.test(character) ? font : font * 0.56;
  return width;
}

/** `text`, shortened with … where it is wider than `width` px. @param {string} text @param {number} width @param {number} font */
export function clipText(text, width, font) {
  if (textWidth(text, font) <= width) return text;
  let kept = text;
  while (kept && textWidth(`${kept}…`, font) > width) kept = kept.slice(0, -1);
  return `${kept.trimEnd()}…`;
}
