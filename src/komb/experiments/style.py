"""How the page of a report looks: light and dark, on a telephone and on a wide screen.

Differences are blue where we are better than the paper and orange where we are worse, which readers
with any kind of colour vision can tell apart; arrows say the same without colours.
"""

CSS = """
:root {
  color-scheme: light dark;
  --paper: #ffffff; --raised: #f6f7f9; --ink: #1b1f24; --soft: #5a6370; --rule: #d8dde3;
  --link: #005a9c; --band: #eceff3;
  --up1: #e3eef8; --up2: #b9d7ef; --up3: #7fb6e0; --down1: #fdeedd; --down2: #fbd3a6;
  --down3: #f3a65a; --off: #e4dcef; --chip: #1b1f24;
  --good: #005a9c; --bad: #9c4300; --open: #5a6370;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --raised: #1c2026; --ink: #e6e9ed; --soft: #a3acb8; --rule: #343b44;
    --link: #7cc0f5; --band: #242a31;
    --up1: #182c3e; --up2: #1b466b; --up3: #1f639c; --down1: #3a2a17; --down2: #5f3d15;
    --down3: #8d5414; --off: #3a3050; --chip: #f3f5f7;
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
nav ul, .claims { max-width: none; }
.soft, .notes, .files { color: var(--soft); font-size: .92rem; }
.notes { padding-left: 1.1rem; }
.claims { list-style: none; padding: 0; display: grid; gap: .8rem; }
.claims > li { background: var(--raised); border: 1px solid var(--rule); border-radius: 8px;
  padding: .8rem 1rem; }
.claims p { margin: 0; font-weight: 600; max-width: none; }
.finding { display: grid; grid-template-columns: 9.5rem 11.5rem 1fr; gap: .1rem 1rem;
  margin-top: .5rem; font-size: .95rem; }
.finding > * { min-width: 0; overflow-wrap: anywhere; }
.verdict { font-weight: 700; }
.holds, .holds-so-far { color: var(--good); }
.does-not-hold { color: var(--bad); }
.not-tested { color: var(--open); }
.scroll { overflow-x: auto; width: fit-content; max-width: 100%; margin: .7rem 0;
  border: 1px solid var(--rule); border-radius: 8px; }
.scroll:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
table { border-collapse: separate; border-spacing: 0; font-size: .92rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: .45rem .7rem; text-align: left; vertical-align: top;
  border-bottom: 1px solid var(--rule); }
tbody tr:last-child > * { border-bottom: 0; }
thead th { background: var(--band); white-space: nowrap; vertical-align: bottom; }
.first { position: sticky; left: 0; z-index: 1; background: var(--paper); min-width: 11.2rem;
  border-right: 1px solid var(--rule); font-weight: 600; }
thead .first { background: var(--band); }
.first small { display: block; font-weight: 400; color: var(--soft); }
tr.band th { background: var(--raised); font-weight: 600; }
tr.band span { position: sticky; left: .7rem; }
.group span { position: sticky; left: 11.9rem; }
td.entry { white-space: nowrap; }
td.entry > * { display: block; }
.ours i, .paper i { font-style: normal; font-size: .85em; color: var(--soft); }
.best .ours b::after { content: " ★"; color: var(--good); }
.ours { font-weight: 400; }
.paper, .ratio, .remark, .none { color: var(--soft); font-size: .86em; }
.remark { white-space: normal; min-width: 8rem; color: var(--bad); }
td.entry > .change { display: inline-block; margin-top: .15rem; padding: 0 .4rem;
  border-radius: 4px; font-size: .86em; color: var(--chip); background: var(--band); }
td.entry > .up1 { background: var(--up1); } td.entry > .up2 { background: var(--up2); }
td.entry > .up3 { background: var(--up3); } td.entry > .down1 { background: var(--down1); }
td.entry > .down2 { background: var(--down2); } td.entry > .down3 { background: var(--down3); }
td.entry > .off { background: var(--off); }
.legend .change { padding: 0 .4rem; border-radius: 4px; color: var(--chip); white-space: nowrap; }
.legend .up2 { background: var(--up2); } .legend .down2 { background: var(--down2); }
.legend .even { background: var(--band); }
.picture { padding: .8rem; width: auto; }
.picture svg { display: block; width: 100%; min-width: 52rem; max-width: 76rem; height: auto;
  margin: 0 auto; }
dl { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr; gap: .25rem 1.2rem;
  margin: .6rem 0 1rem; }
dt { color: var(--soft); }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
footer { color: var(--soft); font-size: .9rem; padding-top: 1rem; padding-bottom: 2.5rem; }
@media (max-width: 44rem) {
  header, nav, main, footer { padding-left: .9rem; padding-right: .9rem; }
  h1 { font-size: 1.5rem; }
  .finding { grid-template-columns: 1fr; }
  .first { min-width: 7.2rem; max-width: 7.6rem; }
  .group span { left: 7.75rem; }
  th, td { padding: .4rem .55rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; }
}
@media print {
  .scroll { overflow: visible; border: 0; }
  .first { position: static; }
}
"""
"""The style sheet of the page."""
