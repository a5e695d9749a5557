"""What the page about a column adds to the style that all pages have."""

CSS = """
:root { --tint: #cfe3f4; --tag: #10456e; --bar: #4f8fc0; --gap: #c98a3d; --sign: #10456e; }
@media (prefers-color-scheme: dark) {
  :root { --tint: #1b3f5f; --tag: #cfe6fa; --bar: #5ea3d8; --gap: #e0a050; --sign: #9fd0f7; }
  .plot img { filter: invert(.92) hue-rotate(180deg); }
}
h1, h3, p, li, summary, .reasons dt { overflow-wrap: anywhere; }
h3 { font-size: 1.05rem; margin: 1.2rem 0 .3rem; }
.right { text-align: right; }
.center { text-align: center; }
.answer { font-size: 1.12rem; }
.warning { border-left: 4px solid var(--bad); padding: .3rem .8rem; font-weight: 600; }
.answer b { color: var(--sign); }
.name { font-weight: 600; overflow-wrap: anywhere; }
.columns td { vertical-align: middle; }
.columns td:first-child { min-width: 8rem; max-width: 22rem; }
.columns td:last-child { min-width: 13rem; max-width: 46rem; }
.tag { display: inline-block; padding: 0 .45rem; border-radius: 99px; font-size: .78rem;
  background: var(--tint); color: var(--tag); white-space: nowrap; }
.tag.target { background: var(--tag); color: var(--paper); }
.tag.identifier { background: none; border: 1px solid var(--bad); color: var(--bad); }
.narrow { display: none; }
.bars { display: inline-block; vertical-align: middle; fill: var(--bar); margin-right: .7rem; }
.bars .gap { fill: var(--gap); }
.levels, .cuts { color: var(--soft); font-size: .86rem; overflow-wrap: anywhere; }
.cuts { display: block; }
.plot { padding: .8rem; }
.plot img { display: block; max-width: none; height: auto; }
.reasons { grid-template-columns: minmax(6rem, 14rem) 1fr; gap: .55rem 1.2rem; max-width: 62rem; }
.reasons dt { color: var(--ink); font-weight: 600; }
.members td { overflow-wrap: anywhere; }
.members td:nth-child(-n+2) { min-width: 7rem; max-width: 24rem; }
details { margin: .6rem 0; }
summary { cursor: pointer; color: var(--link); }
@media (max-width: 44rem) {
  .reasons { grid-template-columns: 1fr; }
  .reasons dd { margin-bottom: .8rem; }
  .columns { width: auto; }
  .columns table, .columns tbody, .columns tr { display: block; }
  .columns thead, .wide { display: none; }
  .columns tr { padding: .5rem .7rem; border-bottom: 1px solid var(--rule); }
  .columns tr:last-child { border-bottom: 0; }
  .columns td { display: inline; padding: 0; border: 0; }
  .columns td:first-child, .columns td:last-child { display: block; max-width: none; }
  .columns td.right { color: var(--soft); font-size: .86rem; margin-right: .6rem; }
  .narrow { display: inline; }
}
@media print { .plot img { filter: none; max-width: 100%; } }
"""
"""Comes after the style of all pages."""
