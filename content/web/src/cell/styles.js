// The cell's look. Colours and fonts come from the page's custom properties; what follows the comma is for pages
// without them.

export const styles = `
:host {
  display: block;
  --bg: var(--zl-code-bg, light-dark(#f6f7f9, #1b1e24));
  --surface: var(--zl-surface, light-dark(#ffffff, #15181d));
  --fg: var(--zl-fg, light-dark(#1d2127, #e4e7ec));
  --muted: var(--zl-muted, light-dark(#59616d, #9aa3b0));
  --accent: var(--zl-accent, light-dark(#1f5fbf, #7fb0ff));
  --border: var(--zl-border, light-dark(#d5d9e0, #343a44));
  --danger: var(--zl-danger, light-dark(#b3261e, #ff9a90));
  --ok: var(--zl-ok, light-dark(#1d7a46, #6fd39b));
  --mono: var(--zl-mono, ui-monospace, SFMono-Regular, Menlo, Consolas, 'Liberation Mono', monospace);
  --code-keyword: var(--zl-code-keyword, light-dark(#8032a8, #cf9bf0));
  --code-string: var(--zl-code-string, light-dark(#1b6e3c, #8fd6a5));
  --code-number: var(--zl-code-number, light-dark(#a1460a, #f0b07a));
  --code-comment: var(--zl-code-comment, light-dark(#5d6672, #98a2b0));
  --code-name: var(--zl-code-name, light-dark(#1f5fbf, #8ab8ff));
  --selection: color-mix(in srgb, var(--accent) 24%, transparent);
  --code-line-height: 1.55;
  --code-padding: 10px;
  margin: 1.25rem 0;
  color: var(--fg);
  font-family: var(--zl-font, system-ui, sans-serif);
}
:host([hidden]) { display: none; }
* { box-sizing: border-box; }
[hidden] { display: none !important; }
.cell {
  border: 1px solid var(--border);
  border-radius: 8px;
  background: var(--surface);
  overflow: hidden;
}
.cell:focus-within { border-color: color-mix(in srgb, var(--accent) 55%, var(--border)); }
.code { background: var(--bg); font-size: 0.9rem; }
.code:focus-within { box-shadow: inset 0 0 0 2px var(--accent); border-radius: 7px 7px 0 0; }
.plain, ::slotted(pre) {
  margin: 0 !important;
  padding: var(--code-padding) var(--code-padding) var(--code-padding) 14px !important;
  border: 0 !important;
  background: transparent !important;
  font: inherit;
  font-family: var(--mono) !important;
  line-height: var(--code-line-height) !important;
  overflow-x: auto;
}
.bar {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 6px;
  padding: 6px 8px;
  border-top: 1px solid var(--border);
}
button {
  font: inherit;
  font-size: 0.85rem;
  line-height: 1.2;
  min-height: 32px;
  padding: 4px 12px;
  color: var(--fg);
  background: transparent;
  border: 1px solid var(--border);
  border-radius: 6px;
  cursor: pointer;
}
button:hover { border-color: var(--accent); }
button:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
button[aria-disabled='true'] { opacity: 0.5; cursor: default; border-color: var(--border); }
button.run { color: var(--zl-accent-ink, light-dark(#ffffff, #10141a)); background: var(--accent); border-color: var(--accent); font-weight: 600; }
button.stop { color: var(--danger); border-color: var(--danger); font-weight: 600; }
button.quiet { border-color: transparent; color: var(--muted); padding: 4px 8px; }
button.quiet:hover { border-color: var(--border); color: var(--fg); }
.status {
  flex: 1 1 8rem;
  min-width: 0;
  color: var(--muted);
  font-size: 0.85rem;
  text-align: end;
  font-variant-numeric: tabular-nums;
}
progress { display: block; width: 100%; height: 3px; border: 0; appearance: none; background: var(--border); }
progress::-webkit-progress-bar { background: var(--border); }
progress::-webkit-progress-value { background: var(--accent); transition: width 0.2s; }
progress::-moz-progress-bar { background: var(--accent); }
.output {
  max-height: 26rem;
  overflow: auto;
  padding: 8px 14px;
  border-top: 1px solid var(--border);
  font-size: 0.875rem;
}
.output:focus-visible { outline: 2px solid var(--accent); outline-offset: -2px; }
.output pre, .value, .traceback {
  margin: 0;
  font-family: var(--mono);
  line-height: 1.5;
  white-space: pre-wrap;
  overflow-wrap: anywhere;
  tab-size: 4;
}
/* A table is only a table while its lines stay whole. */
.output pre, .value { white-space: pre; overflow-wrap: normal; }
.output .err { color: var(--danger); }
.value { padding: 8px 14px; border-top: 1px solid var(--border); font-size: 0.875rem; overflow: auto; max-height: 26rem; }
/* Drawn with dark ink for white paper, whatever the page's colours are. */
.picture { display: block; max-width: 100%; height: auto; margin: 0 auto; padding: 8px; background: #ffffff; border-top: 1px solid var(--border); }
.traceback { padding: 8px 14px; border-top: 1px solid var(--border); font-size: 0.85rem; overflow: auto; max-height: 22rem; }
.notice, .aside {
  margin: 0;
  padding: 10px 14px;
  border-top: 1px solid var(--border);
  border-inline-start: 4px solid var(--muted);
  font-size: 0.9rem;
  line-height: 1.55;
}
.notice.danger { border-inline-start-color: var(--danger); background: color-mix(in srgb, var(--danger) 7%, transparent); }
:is(.notice, .aside) strong { display: block; }
:is(.notice, .aside) p { margin: 2px 0 0; }
:is(.notice, .aside) button { margin: 8px 8px 0 0; }
.aside { border-top: 0; border-bottom: 1px solid var(--border); border-inline-start-color: var(--accent); }
.link { display: block; width: calc(100% - 16px); margin: 0 8px 8px; padding: 6px 8px; font: 0.8rem var(--mono); color: var(--fg); background: var(--bg); border: 1px solid var(--border); border-radius: 6px; }
.visually-hidden {
  position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap;
}
.status:empty { display: none; }
@media (max-width: 30rem) {
  .status { flex-basis: 100%; text-align: start; }
  .cell { border-radius: 6px; }
}
@media (prefers-reduced-motion: reduce) { progress::-webkit-progress-value { transition: none; } }
@media print { .bar, progress { display: none; } .output, .value, .traceback { max-height: none; } }
`;
