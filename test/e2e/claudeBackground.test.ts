/**
 * A real Claude Code whose sub-agent hangs in the background, after the turn that launched it: in a terminal and by `assess`.
 * `WATCHKEEPER_TEST_SILENCE_S=600` waits for the default limit in real time; otherwise a shorter one stands for it.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { AssessedSession } from '../../monitoring/offline/assessPaths.js';
import { DEFAULT_THRESHOLDS } from '../../src/config/rules.js';
import { compiledProgram } from '../../src/host/program.js';
import { isoTime, SECOND } from '../../src/time.js';
import type { MessagesRequest } from '../peers/anthropic/messages.js';
import { userTexts } from '../peers/anthropic/messages.js';
import type { Reply } from '../peers/anthropic/replies.js';
import { call, say } from '../peers/modelBlocks.js';
import {
  askClaude,
  ClaudeTerminal,
  describeWithAnyClaude,
  nextOf,
  type TerminalPlace,
  terminalPlace,
} from './claudeTerminal.js';
import { eventually } from './eventually.js';
import { killAtOnce, shown, worklogsIn } from './recorded.js';

const MAIN = compiledProgram('bridge/cli/main');
const SILENCE_S = Number(process.env.WATCHKEEPER_TEST_SILENCE_S ?? 6);
const CHECKS = 3;
/** Each check is a process. */
const CHECK_EVERY_MS = 700;
const LIMIT_MS = 120_000 + 2 * SILENCE_S * SECOND;
const PERMISSIONS = { defaultMode: 'acceptEdits', allow: ['Bash', 'Agent'] };
const DELEGATE = call('Agent', {
  description: 'look',
  prompt: 'the INNER task',
  subagent_type: 'general-purpose',
  run_in_background: true,
});
const DEEDS = { 'delegate it': [[DELEGATE], [say('It is looked at.')]] };

const isInner = (request: MessagesRequest) =>
  (request.tools ?? []).length > 0 && userTexts(request).some((text) => text.includes('the INNER task'));

/** The sub-agent's model answers once, and then never again. */
function model(request: MessagesRequest): Reply {
  if (!isInner(request)) return nextOf(DEEDS, request) ?? [say('A title')];
  const hasAnswered = request.messages.some(({ role }) => role === 'assistant');
  return hasAnswered ? { kind: 'hang' } : [call('Bash', { command: 'ls', description: 'A command' })];
}

async function untilItHangs({ peer }: TerminalPlace): Promise<void> {
  const inner = () => peer.requests.filter(({ request }) => isInner(request)).length;
  await eventually(() => inner() >= 2, { what: 'the request that is never answered', withinMs: 15_000 });
}

interface Written {
  /** The transcript of the only conversation. */
  readonly path: string;
  /** The last instant at which the sub-agent wrote something of its own. */
  readonly lastSign: number;
}

/** The program writes a record some time after what it is about: the sub-agent's prompt, call and result, and the turn's end. */
function whenWritten(place: TerminalPlace): Promise<Written> {
  const look = (): Written | null => {
    const lines = [...worklogsIn(place).values()].flat();
    const path = lines.map(({ transcript }) => transcript).find((each) => typeof each === 'string');
    if (path === undefined || !existsSync(path as string)) return null;
    const below = join((path as string).slice(0, -'.jsonl'.length), 'subagents');
    const names = existsSync(below) ? readdirSync(below).filter((name) => name.endsWith('.jsonl')) : [];
    const texts = names.map((name) => readFileSync(join(below, name), 'utf8'));
    const signs = texts
      .flatMap((text) =>
        text
          .slice(0, text.lastIndexOf('\n') + 1)
          .split('\n')
          .filter((line) => line !== ''),
      )
      .map((line) => JSON.parse(line) as { type: string; timestamp?: string })
      .filter(({ type }) => type === 'user' || type === 'assistant');
    const isTurnOver = readFileSync(path as string, 'utf8').includes('It is looked at.');
    if (signs.length < 3 || !isTurnOver) return null;
    return { path: path as string, lastSign: Math.max(...signs.map(({ timestamp = '' }) => Date.parse(timestamp))) };
  };
  return eventually(look, { what: 'the transcripts', withinMs: 15_000 });
}

function assess(path: string, now: number): AssessedSession {
  const { stdout, stderr } = spawnSync(
    process.execPath,
    [MAIN, 'assess', path, '--replay', '--json', '--now', isoTime(now)],
    { encoding: 'utf8' },
  );
  expect(stderr).toBe('');
  const [session] = (JSON.parse(stdout) as { sessions: AssessedSession[] }).sessions;
  if (session === undefined) throw new Error(`${path} was not judged`);
  return session;
}

async function expectFoundAtTheLimit(place: TerminalPlace): Promise<void> {
  const { path, lastSign } = await whenWritten(place);
  const limit = lastSign + DEFAULT_THRESHOLDS.silence_ms;
  expect(assess(path, limit).findings).toEqual([]);
  const found = assess(path, limit + 1);
  expect(found.findings).toMatchObject([
    { rule: 'silence', since: isoTime(limit + 1), reason: 'silent_for_10_minutes' },
  ]);
  expect(found.findings[0]?.clock?.agent).toMatch(/^a/);
  expect(assess(path, limit + 18_000_000).replay?.still_true).toEqual(['silence']);
}

// rule: a-background-sub-agent-owes-its-report
describeWithAnyClaude('a real Claude Code with a sub-agent that hangs in the background', (claude) => {
  test(
    'is found in a terminal after the turn, and by assess exactly at ten minutes',
    async () => {
      const place = await terminalPlace(model, PERMISSIONS);
      const terminal = new ClaudeTerminal(place, claude, place.work);
      await terminal.type('delegate it');
      await terminal.shows('It is looked at.');
      await untilItHangs(place);
      const [id = ''] = worklogsIn(place).keys();
      const how = `--interval ${SILENCE_S / CHECKS} --checks ${CHECKS}`;
      expect(shown(place, `track monitor --check --session ${id} ${how}`)).toMatch(/^not stuck/);
      const begun = Date.now();
      const check = () => /^stuck/.test(shown<string>(place, `track monitor --check --session ${id} ${how}`));
      await eventually(check, {
        what: 'the finding',
        withinMs: 2 * SILENCE_S * SECOND + 30_000,
        everyMs: CHECK_EVERY_MS,
      });
      const { lastSign } = await whenWritten(place);
      process.stderr.write(
        `found in the terminal ${(Date.now() - lastSign) / SECOND} s after the last sign, limit ${SILENCE_S} s\n`,
      );
      expect(Date.now() - begun).toBeGreaterThan((SILENCE_S - 6) * SECOND);
      await expectFoundAtTheLimit(place);
    },
    LIMIT_MS,
  );

  test(
    'is found by assess if it was asked without a terminal',
    async () => {
      const place = await terminalPlace(model, PERMISSIONS);
      const agent = askClaude(place, claude, 'delegate it');
      await untilItHangs(place);
      await expectFoundAtTheLimit(place);
      await killAtOnce(agent.child.pid);
    },
    LIMIT_MS,
  );
});
