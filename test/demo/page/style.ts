/** The page's look, in light and in dark, on a phone and on a wide screen. */
export const STYLE = `
:root { color-scheme: light dark; --back: #f3f5f7; --card: #fff; --text: #1c2733; --soft: #5d6b78; --line: #dbe1e7;
  --accent: #1a6fc9; --chat: #dde8ee; --bot: #fff; --person: #dcf6cf; --code: #eef1f4; --good: #1a7f37; --warn: #9a6700;
  --bad: #c62828; --done: #7d4fd0; }
@media (prefers-color-scheme: dark) {
  :root { --back: #0e1318; --card: #171e26; --text: #e4eaf0; --soft: #93a1ae; --line: #2c3742; --accent: #6cb2ff;
    --chat: #0f1a23; --bot: #1e2b37; --person: #2a5274; --code: #10171e; --good: #4cc26a; --warn: #d9a53a;
    --bad: #ff7b72; --done: #b394f5; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
main { max-width: 1180px; margin: 0 auto; padding: 24px 16px 64px; }
h1 { font-size: 28px; line-height: 1.2; margin: 0 0 8px; }
h2 { font-size: 21px; margin: 44px 0 14px; }
h3, h4, h5, h6 { line-height: 1.3; margin: 18px 0 8px; font-size: 16px; }
p { margin: 0 0 10px; }
a { color: var(--accent); }
nav { display: flex; flex-wrap: wrap; gap: 6px 18px; margin-top: 14px; }
code, pre { font: 13px/1.45 ui-monospace, SFMono-Regular, Menlo, 'DejaVu Sans Mono', monospace; }
code { background: var(--code); border-radius: 4px; padding: 1px 4px; overflow-wrap: anywhere; }
pre { background: var(--code); border-radius: 6px; padding: 10px 12px; margin: 8px 0; overflow-x: auto; white-space: pre; }
pre code { background: none; padding: 0; overflow-wrap: normal; }
blockquote { margin: 8px 0; padding: 4px 10px; border-left: 3px solid var(--accent); background: var(--code);
  border-radius: 4px; }
.soft { color: var(--soft); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 14px 18px; }
.pair { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 18px; align-items: start; }
.issues { display: grid; gap: 18px; }

.chat { background: var(--chat); border: 1px solid var(--line); border-radius: 10px; overflow: hidden; }
.chat > header { display: flex; align-items: center; gap: 10px; background: var(--card); padding: 9px 14px;
  border-bottom: 1px solid var(--line); }
.avatar { display: grid; place-items: center; width: 30px; height: 30px; border-radius: 50%; background: var(--accent);
  color: var(--card); font-weight: 600; }
.messages { display: flex; flex-direction: column; gap: 8px; padding: 14px; }
.bubble { max-width: 92%; padding: 8px 12px 6px; border-radius: 14px; box-shadow: 0 1px 1px rgb(0 0 0 / 12%); }
.bot { align-self: flex-start; background: var(--bot); border-bottom-left-radius: 4px; }
.person { align-self: flex-end; background: var(--person); border-bottom-right-radius: 4px; margin-top: 12px; }
.person:first-child { margin-top: 0; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; }
.name { margin: 0; font-size: 13px; font-weight: 600; color: var(--accent); }
.person .name { color: inherit; opacity: .75; }
.answered { margin: 1px 0 5px; padding: 1px 8px; border-left: 3px solid var(--accent); border-radius: 3px;
  font-size: 13px; color: var(--soft); background: var(--code); overflow: hidden; white-space: nowrap;
  text-overflow: ellipsis; }
.block { position: relative; }
.block .language { position: absolute; top: 4px; right: 9px; font-size: 11px; color: var(--soft); }
.text pre, .text blockquote { margin: 2px 0; }
.former { margin: 4px 0 2px; font-size: 14px; }
.former summary { cursor: pointer; font-size: 12px; color: var(--soft); }
.former ol { list-style: none; margin: 4px 0; padding: 4px 0 0; border-top: 1px dashed var(--line); }
.former li { display: flex; gap: 9px; margin: 2px 0; }
.former time { flex: none; }
time { font-variant-numeric: tabular-nums; }
.former time, .bubble footer { font-size: 12px; color: var(--soft); }
.person footer { color: inherit; }
.bubble footer { display: flex; justify-content: flex-end; align-items: center; gap: 8px; margin-top: 2px; }
.person footer .notes { opacity: .75; }
.reaction { margin-right: auto; font-size: 13px; background: var(--card); border-radius: 12px; padding: 0 8px; }
.service { align-self: center; margin: 0; padding: 2px 12px; border-radius: 12px; font-size: 13px; background: var(--card);
  color: var(--soft); }

.issue header { border-bottom: 1px solid var(--line); margin-bottom: 12px; }
.issue h3 { margin: 0 0 6px; font-size: 17px; }
.number { color: var(--soft); font-weight: 400; }
.state { color: var(--card); border-radius: 12px; padding: 2px 11px; font-size: 13px; font-weight: 600; }
.open { background: var(--good); }
.closed { background: var(--done); }
.label { border: 1px solid var(--line); border-radius: 12px; padding: 1px 10px; font-size: 13px; color: var(--soft); }
.comment { border-top: 1px solid var(--line); margin-top: 12px; padding-top: 10px; }
.markdown { overflow-wrap: anywhere; }
.markdown > :first-child { margin-top: 0; }
.markdown ul, .markdown ol { padding-left: 22px; margin: 8px 0; }
.markdown hr { border: 0; border-top: 1px solid var(--line); margin: 16px 0; }
.scroll { overflow-x: auto; margin: 10px 0; }
table { border-collapse: collapse; font-size: 14px; }
th, td { border: 1px solid var(--line); padding: 5px 10px; text-align: left; vertical-align: top; }
td { min-width: 60px; overflow-wrap: normal; }

.event { background: var(--card); border: 1px solid var(--line); border-bottom: 0; padding: 5px 14px; }
.event:first-of-type { border-radius: 10px 10px 0 0; }
.event:last-of-type { border-bottom: 1px solid var(--line); border-radius: 0 0 10px 10px; }
.event summary { display: grid; grid-template-columns: 70px 90px 120px 220px minmax(0, 1fr); gap: 10px; cursor: pointer;
  align-items: baseline; }
.event summary code { justify-self: start; }
.event p { margin: 8px 0; }
.step { color: var(--warn); }
.step.final { color: var(--soft); }
.claims { list-style: none; padding: 6px 16px; margin: 0; }
.claims li { padding: 7px 0 7px 26px; border-top: 1px solid var(--line); position: relative; }
.claims li:first-child { border-top: 0; }
.claims li::before { content: '✓'; position: absolute; left: 2px; color: var(--good); font-weight: 700; }
.claims .false::before { content: '✗'; color: var(--bad); }
.claims .soft { font-size: 13px; overflow-wrap: anywhere; }
@media (max-width: 800px) {
  .pair { grid-template-columns: minmax(0, 1fr); }
  .event summary { grid-template-columns: 64px 84px minmax(0, 1fr); gap: 0 10px; }
  .event summary code { grid-column: 1 / 3; }
  main { padding: 18px 12px 48px; }
  .messages { padding: 10px; }
  .card { padding: 12px 14px; }
}
`;
