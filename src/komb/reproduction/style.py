"""What the page of a reproduction adds to the style that all pages have.

Differences are blue where we are better than the paper and orange where we are worse, which readers
with any kind of colour vision can tell apart; arrows say the same without colours.
"""

CSS = """
:root {
  --up1: #e3eef8; --up2: #b9d7ef; --up3: #7fb6e0; --down1: #fdeedd; --down2: #fbd3a6;
  --down3: #f3a65a; --off: #e4dcef; --chip: #1b1f24;
}
@media (prefers-color-scheme: dark) {
  :root {
    --up1: #182c3e; --up2: #1b466b; --up3: #1f639c; --down1: #3a2a17; --down2: #5f3d15;
    --down3: #8d5414; --off: #3a3050; --chip: #f3f5f7;
  }
}
.claims { max-width: none; }
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
@media (max-width: 44rem) {
  .finding { grid-template-columns: 1fr; }
  .first { min-width: 7.2rem; max-width: 7.6rem; }
  .group span { left: 7.75rem; }
}
@media print {
  .first { position: static; }
}
"""
"""Comes after the style of all pages."""
