"""How pages look: light and dark, on a telephone and on a wide screen."""

CSS = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --raised: #f6f7f9; --ink: #1b1f24; --soft: #5a6370; --rule: #d8dde3;
  --link: #005a9c; --band: #eceff3;
  --good: #005a9c; --bad: #9c4300; --open: #5a6370;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --raised: #1c2026; --ink: #e6e9ed; --soft: #a3acb8; --rule: #343b44;
    --link: #7cc0f5; --band: #242a31;
    --good: #7cc0f5; --bad: #f5b36b; --open: #a3acb8;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif;
}
header, nav, main, footer { max-width: 84rem; margin: 0 auto; padding: 0 1.25rem; }
header { padding-top: 2.2rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { font-size: 1.3rem; line-height: 1.3; margin: 0 0 .5rem; }
p, ul { margin: .4rem 0 .8rem; max-width: 48rem; }
a { color: var(--link); }
code, pre { font: .88em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { overflow-wrap: anywhere; }
pre {
  background: var(--raised); border: 1px solid var(--rule); border-radius: 6px;
  padding: .7rem .9rem; overflow-x: auto; max-width: 100%;
}
section { padding: 1.6rem 0 .4rem; border-top: 1px solid var(--rule); }
section:first-of-type { border-top: 0; }
nav ul { list-style: none; display: flex; flex-wrap: wrap; gap: .3rem 1.1rem; padding: 0; }
nav ul { max-width: none; }
.soft, .notes, .files { color: var(--soft); font-size: .92rem; }
.notes { padding-left: 1.1rem; }
.scroll { overflow-x: auto; width: fit-content; max-width: 100%; margin: .7rem 0;
  border: 1px solid var(--rule); border-radius: 8px; }
.scroll:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
table { border-collapse: separate; border-spacing: 0; font-size: .92rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: .45rem .7rem; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--rule); }
tbody tr:last-child > * { border-bottom: 0; }
thead th { background: var(--band); white-space: nowrap; vertical-align: bottom; }
dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: .25rem 1.2rem;
  margin: .6rem 0 1rem; }
dt { color: var(--soft); }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
footer { color: var(--soft); font-size: .9rem; padding-top: 1rem; padding-bottom: 2.5rem; }
@media (max-width: 44rem) {
  header, nav, main, footer { padding-left: .9rem; padding-right: .9rem; }
  h1 { font-size: 1.5rem; }
  th, td { padding: .4rem .55rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; }
}
@media print {
  .scroll { overflow: visible; border: 0; }
}
"""
"""The style that all pages have."""
