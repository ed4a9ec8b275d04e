/**
 * An agent that tries to get at the bridge that started it, and at its operator. What it got is the table of docs/agents.md, "What
 * an agent can reach".
 */
import { chownSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { refuseOpenAgents } from '../../bridge/agents/program/isolation.js';
import { whyNoSandbox } from '../../bridge/agents/program/sandbox.js';
import { checkIsolation } from '../../bridge/doctor/isolationChecks.js';
import type { Project } from '../../src/config/settings.js';
import { project, testSettings } from '../bridge/telegram/scene.js';
import { firstCells, tableBelow } from '../docs/markdown.js';
import { openToOthers, testFolder } from '../harness/folder.js';
import { ATTEMPTS } from '../reach/attempts.js';
import { KINDS, type Kind, raid, whyNotTried } from '../reach/raid.js';
import { Conversation } from './conversation.js';
import { isRoot, ORDINARY_USER } from './ordinaryUser.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from './testScene.js';

// covers: bridge/agents/program/isolation.ts

const rows = tableBelow(readFileSync('docs/agents.md', 'utf8'), '## What an agent can reach');

/** @returns the rows that the document answers with yes for this kind of isolation */
function open(kind: Kind): string[] {
  const column = KINDS.indexOf(kind) + 1;
  return rows.filter((cells) => cells[column] === 'yes').map(([row = '']) => row);
}

function describeKind(kind: Kind, tests: () => void): void {
  const why = whyNotTried(kind) ?? (kind === 'bubblewrap' ? (whyNoSandbox(ORDINARY_USER)?.why ?? null) : null);
  if (why === null) describeScenes(`an agent kept in by: ${kind}`, tests);
  else describe.skip(`an agent kept in by: ${kind} (skipped: ${why})`, tests);
}

describe('the table of what an agent can reach', () => {
  test('has a line for each access that is tried', () => {
    expect(firstCells(rows)).toEqual(Object.keys(ATTEMPTS));
    for (const cells of rows) expect(cells.slice(1)).toHaveLength(KINDS.length);
    expect(Object.values(ATTEMPTS).flat().length).toBeGreaterThanOrEqual(90);
  });
});

for (const kind of KINDS) {
  describeKind(kind, () => {
    // rule: a-sandbox-keeps-agents-in
    test(
      'reaches what the documents say and nothing else, and can do its work',
      async () => {
        const { got, kept } = await raid(kind);
        expect(kept).toEqual([]);
        const reached = [...got].filter(([, names]) => names.length > 0);
        expect(Object.fromEntries(reached)).toEqual(
          Object.fromEntries(open(kind).map((row) => [row, expect.anything()])),
        );
        // With nothing in its way it gets all that a row names, or the others' refusals would prove nothing.
        if (kind === 'root') {
          const missed = reached.flatMap(([row, names]) =>
            (ATTEMPTS[row] ?? []).filter(({ name }) => !names.includes(name)),
          );
          expect(missed).toEqual([]);
        }
      },
      SCENE_TIMEOUT_MS * 2,
    );
  });
}

const agentOf = (kind: string): Project['agent'] => ({ kind, options: { command: ['true'] } });
const settings = (isolation: Project['isolation'], kind = 'command') =>
  testSettings([{ ...project('yard', '/srv/yard', []), isolation, agent: agentOf(kind) }]);
const NOT_THERE = () => ({ why: 'bubblewrap is not installed', isMissing: true });

describe('the doctor', () => {
  test('shows for each project what isolates its agents, or what they can reach without isolation', () => {
    expect(checkIsolation(settings(null), () => null)).toMatchObject([{ name: 'isolation of yard', verdict: 'ok' }]);
    expect(checkIsolation(settings('none'), () => null)).toMatchObject([
      { verdict: 'ok', found: expect.stringMatching(/^chosen: .*environment with its tokens/) },
    ]);
    const [open] = checkIsolation(settings(null), NOT_THERE);
    const asked = isRoot
      ? { verdict: 'fault' }
      : { verdict: 'warning', remedy: expect.stringMatching(/install bubblewrap/) };
    expect(open).toMatchObject({ ...asked, found: expect.stringMatching(/^bubblewrap is not installed/) });
    expect(checkIsolation(settings(null, 'scripted'), NOT_THERE)).toMatchObject([{ verdict: 'ok' }]);
    expect(checkIsolation(settings('bubblewrap'), NOT_THERE)).toMatchObject([{ verdict: 'fault' }]);
    // An agent can use up what a sandbox needs, so that is no reason to run it without one.
    const used = () => ({ why: 'no namespace is left', isMissing: false });
    expect(checkIsolation(settings(null), used)).toMatchObject([{ verdict: 'fault' }]);
  });
});

const testOfRoot = isRoot ? test : test.skip;

describe('a bridge of root', () => {
  const starts = (isolation: Project['isolation'], kind?: string) => () => {
    const given = settings(isolation, kind);
    refuseOpenAgents([...given.projects.values()], given);
  };

  // rule: a-sandbox-keeps-agents-in
  testOfRoot('runs no agents that nothing can hold, unless that is chosen', () => {
    const refusal =
      /^projects.yard.isolation: no sandbox can hold an agent that runs as root; start the bridge as another user/;
    expect(starts('bubblewrap')).toThrow(refusal);
    expect(starts(null)).toThrow(refusal);
    expect(starts(null, 'claude')).toThrow(refusal);
    expect(starts('none')).not.toThrow();
    // It plays a file, and runs no program of others.
    expect(starts(null, 'scripted')).not.toThrow();
    expect(checkIsolation(settings(null))).toMatchObject([
      { verdict: 'fault', found: expect.stringContaining('as root') },
    ]);
  });
});

const CHAT = 71;
const BRIDGE_USER = 64_001;
const AGENT_USER = 64_002;
const mayBeAnother = process.getuid?.() === 0 && existsSync('/usr/bin/setpriv');
const describeUsers = mayBeAnother
  ? describeScenes
  : (name: string, tests: () => void) => describe.skip(`${name} (skipped: it takes root and setpriv)`, tests);
const ENTRY_POINT = resolve('deploy/container-entrypoint');
const copies = join(testFolder(), 'copies');
const AS_IN_THE_CONTAINER = {
  WATCHKEEPER_PROGRAM: resolve('bin/watchkeeper'),
  WATCHKEEPER_BRIDGE_USER: String(BRIDGE_USER),
  WATCHKEEPER_AGENT_USER: `${AGENT_USER}:${AGENT_USER}`,
  WATCHKEEPER_SECRET_COPIES: copies,
};

function giveToAgents(folder: string, ...paths: readonly string[]): void {
  for (const each of [folder, dirname(copies)]) openToOthers(each);
  for (const path of paths) chownSync(join(folder, path), AGENT_USER, AGENT_USER);
}

function processesOf(uid: number): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid === uid);
}

describeUsers('an agent that runs as another user than the bridge, as in the container', () => {
  // rule: a-sandbox-keeps-agents-in
  test(
    'is ended whole by the bridge, with processes that have left its environment and its session',
    async () => {
      const daemon = `(env -i setsid /bin/sh -c 'trap "" TERM; id -u >up; sleep 61; sleep 62' &)`;
      const words = `${daemon}; trap "" TERM; while :; do sleep 0.1; done`;
      const agent = { kind: 'command', command: ['bash', '-c', words], output: 'text' };
      const projects = { yard: { chats: [{ id: CHAT }], agent } };
      const scene = await openTestScene({ redis: 'bridge', projects, program: ENTRY_POINT });
      giveToAgents(scene.folder, 'work/yard');
      const bridge = await scene.startBridge(AS_IN_THE_CONTAINER);
      const asked = new Conversation(scene, 'yard', CHAT, 'begin');
      const up = join(scene.folder, 'work', 'yard', 'up');
      await scene.until(
        'a tool that works',
        () => existsSync(up) && readFileSync(up, 'utf8').includes(String(AGENT_USER)),
      );
      expect(processesOf(AGENT_USER).length).toBeGreaterThan(2);
      expect(statSync(scene.logs).mode & 0o777).toBe(0o700);
      await scene.run(['cancel', asked.session], AS_IN_THE_CONTAINER);
      await scene.until('the end of all its processes', () => processesOf(AGENT_USER).length === 0, 30_000);
      await bridge.stop();
    },
    SCENE_TIMEOUT_MS,
  );
});
