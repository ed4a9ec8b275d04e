/**
 * `npm run prove -- week`: a week of one person in one checkout, with real Claude Codes in windows and real Codexes against models of
 * this machine. What the list says and what the next agent is told stands beside what should be said, which was written down before.
 */
import { spawnSync } from 'node:child_process';
import { findInstallation } from '../../bridge/agents/claude/installation.js';
import { contextsIn } from '../e2e/recorded.js';
import { proofOptions } from '../harness/proofOptions.js';
import { withScope } from '../harness/scope.js';
import { passNight, weekPlace } from './place.js';
import { print, Week } from './week.js';

proofOptions('week', {});
const ESCAPE = '\u001b';

const installation = findInstallation();
const onPath = spawnSync('sh', ['-c', 'command -v claude'], { encoding: 'utf8' }).stdout.trim();
const program = installation.kind === 'complete' ? installation.program : onPath;
const hasCodex = spawnSync('codex', ['--version']).status === 0;
if (program === '' || !hasCodex) {
  print('week: Claude Code and Codex are needed; docs/agents.md says how to install them');
  process.exitCode = 2;
} else process.exitCode = (await withScope(() => play(program))) === 0 ? 0 : 1;

/** @returns how often something else was said than should be */
async function play(claude: string): Promise<number> {
  const place = await weekPlace();
  const week = new Week(place, claude);

  print('==== Monday: a chat about nothing, then half of a module in order');
  const chat = await week.window('chat', 'what does the config do');
  await chat.shows('It configures the shop.');
  await chat.type('/exit');
  await chat.ended;
  const invoice = await week.window('invoice', 'write the invoice module');
  await invoice.shows('go on with the PDF export?');
  await invoice.type('/exit');
  await invoice.ended;
  place.commit('Add the invoice');
  passNight(place);

  const openInvoice = ['invoice', 'write the invoice module'] as const;
  await week.morning('Tuesday', {
    first: 'invoice',
    words: ['PDF export', 'Shall I go on with the PDF export?'],
    not: ['config'],
    list: [openInvoice],
  });
  const login = await week.window('login', 'fix the login');
  await week.untilAtWork('login-started');
  await week.kill('login');
  await login.ended;
  passNight(place);

  const openLogin = ['login', 'crashed'] as const;
  const mendedLogin = ['login', 'crashed, its files finished since'] as const;
  const failedTests = ['tests', 'after a failure'] as const;
  await week.morning('Wednesday', {
    first: 'login',
    words: ['crashed', 'login.ts', '1 more unfinished'],
    list: [openLogin, openInvoice],
  });
  const mended = await week.window('mended', 'finish what was broken off');
  await mended.shows('The login is fixed now.');
  await mended.type('/exit');
  await mended.ended;
  place.commit('Fix the login');
  const release = await week.window('release', 'release the shop');
  await release.shows('Do you want to proceed?');
  await week.untilWaiting();
  passNight(place);

  await week.morning('Thursday', {
    // The open window was told of the invoice when it began.
    first: null,
    words: ['waits for its person', 'left work unfinished', 'leave it to that one'],
    list: [['release', 'waiting'], openInvoice, mendedLogin],
  });
  const tests = await week.window('tests', 'run the tests');
  await tests.shows('Two tests fail.');
  release.press('\r');
  await release.shows('The shop is released.');
  await release.type('/exit');
  await release.ended;
  tests.close();
  await tests.ended;
  await week.untilReported('tests');
  passNight(place);

  await week.morning('Friday', { first: 'invoice', list: [openInvoice, failedTests, mendedLogin] });
  await week.named('basket', () => place.askCodex('write the basket').ended);
  const cart = await week.named('cart', () => place.askCodex('write the cart'));
  await week.untilAtWork('cart-started');
  await week.kill('cart');
  await cart.ended;
  const before = place.openai.bodies.length;
  await place.askCodex('where do we stand').ended;
  const told = contextsIn(JSON.parse(place.openai.bodies[before] ?? '{}'));
  const openCart = ['cart', 'crashed'] as const;
  week.checkTold('Friday, Codex', told, { first: 'cart', words: ['crashed', 'cart.txt', 'Write its tests'] });
  passNight(place);

  await week.morning('Saturday', {
    first: 'cart',
    words: ['crashed', 'cart.txt', '2 more unfinished'],
    list: [openCart, openInvoice, failedTests, mendedLogin],
  });
  week.run('track done --session {cart}');
  const search = await week.window('search', 'fix the search');
  await week.untilAtWork('search-started');
  search.press(ESCAPE);
  await search.shows('Interrupted');
  await search.type('/exit');
  await search.ended;
  passNight(place);

  const openSearch = ['search', 'stopped'] as const;
  await week.morning('Sunday', {
    first: 'search',
    words: ['stopped', 'search.ts'],
    list: [openSearch, openInvoice, failedTests, mendedLogin],
  });
  const house = await week.window('house', 'tidy the house');
  await week.untilAtWork('shelf-started', 'tidy the house');
  await week.kill('house');
  await house.ended;
  passNight(place);

  await week.morning('the next Monday', {
    first: 'house',
    words: ['crashed', 'shelf.ts', '3 more unfinished'],
    list: [['house', 'crashed'], openSearch, openInvoice, failedTests, mendedLogin],
  });
  week.run('work list --all');
  week.run('track crash-detect');
  print(`\nweek: ${week.faults} of what was said is not what should have been said`);
  return week.faults;
}
