/** Codex with the plugin, in the folder that Claude Code reads, too: nothing is typed but prompts, and everything is on record. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { programRunner } from '../../bridge/command/runProgram.js';
import { install } from '../../bridge/plugin/change.js';
import { AGENTS } from '../../bridge/plugin/status.js';
import { Places } from '../../memory/home/places.js';
import { readProcessIdentity } from '../../src/host/identity.js';
import { packageRoot } from '../../src/host/program.js';
import { systemClock } from '../../src/time.js';
import { testFolder } from '../harness/folder.js';
import { describeWhereInstalled } from '../harness/installed.js';
import { afterThisTest } from '../harness/scope.js';
import { type Asked, type Block, call, say } from '../peers/modelBlocks.js';
import { CODEX, codexEnvironment, codexOptions } from '../peers/openai/codexCli.js';
import { startOpenaiPeer } from '../peers/openai/openaiPeer.js';
import { eventually } from './eventually.js';
import {
  contextsIn,
  killAtOnce,
  LASTING,
  processesOf,
  type RecordedPlace,
  shown,
  startAgent,
  transcriptsIn,
  worklogsIn,
} from './recorded.js';
import { filesOf, printBeside, type ShownWork } from './shownWork.js';

const LIMIT_MS = 120_000;
const WITHIN_MS = 30_000;

const shell = (cmd: string) => call('exec_command', { cmd });
const plan = (first: string, second: string) =>
  call('update_plan', {
    plan: [
      { step: 'Write the file', status: first },
      { step: 'Write the tests', status: second },
    ],
  });
const patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: new.txt\n+one\n*** End Patch\nEOF";
/** A message for each count of results. */
const DEEDS: Readonly<Record<string, readonly (readonly Block[])[]>> = {
  'do every deed': [[plan('in_progress', 'pending')], [shell(patch)], [shell('exit 3')], [say('All of it is done.')]],
  'break off': [[plan('completed', 'in_progress')], [shell(patch.replace('new.txt', 'half.txt'))], [shell(LASTING)]],
};

function model({ texts, results }: Asked): readonly Block[] {
  const prompt = Object.keys(DEEDS).find((ours) => texts.some((text) => text.includes(ours)));
  return DEEDS[prompt ?? '']?.[results] ?? [say('Nothing more.')];
}

async function codexPlace() {
  const peer = await startOpenaiPeer(model);
  afterThisTest(() => peer.stop());
  const folder = testFolder();
  const [home, work, config] = [join(folder, 'home'), join(folder, 'work'), join(folder, 'user')];
  for (const path of [work, config]) mkdirSync(path);
  const own = { ...codexEnvironment(config), PATH: process.env.PATH ?? '', WATCHKEEPER_HOME: home };
  const surroundings = { directory: work, process: readProcessIdentity('here'), variables: own };
  const asker = { run: programRunner(own, systemClock), surroundings };
  const installation = { places: new Places(home), root: packageRoot(), node: process.execPath };
  const changes = await install(installation, [AGENTS.codex], asker);
  expect(changes.map(({ fault }) => fault)).toEqual([null, null]);
  const place: RecordedPlace = { work, home, environment: own };
  const { command } = codexOptions(peer.url) as { command: string[] };
  const words = [...command.slice(1, -1), '-c', 'tools.update_plan.enabled=true', '--dangerously-bypass-hook-trust'];
  const ask = (prompt: string) => startAgent(place, ['codex', ...words, prompt]);
  return { place, peer, ask };
}

describeWhereInstalled('the plugin in the real Codex', CODEX, () => {
  test(
    'records every deed of a session; after `kill -9` in mid-step the next one has the crash in its first request',
    async () => {
      const { place, peer, ask } = await codexPlace();
      expect(await ask('do every deed').ended).toMatchObject({ code: 0 });
      const [id = '', ...others] = [...worklogsIn(place).keys()];
      expect(others).toEqual([]);
      const work = shown<ShownWork>(place, `work show ${id} --json`);
      const counted = peer.requests.length;
      printBeside('Codex with the plugin', work, { 'tokens by agent': [[counted, counted]] });
      expect(work).toMatchObject({
        purpose: 'do every deed',
        conversations: [{ provider: 'codex', source: 'startup' }],
        steps: [
          { title: 'Write the file', status: 'in_progress' },
          { title: 'Write the tests', status: 'pending' },
        ],
        errors: [{ tool: 'exec_command', outcome: 'failed' }],
        tokens: { total: { input: counted, output: counted } },
      });
      expect(filesOf(work)).toEqual({ 'new.txt': 'created' });
      expect(contextsIn(JSON.parse(peer.bodies[0] ?? '{}'))).toEqual([]);

      const second = ask('break off');
      await eventually(() => existsSync(join(place.work, 'started')), { what: 'the last call', withinMs: WITHIN_MS });
      writeFileSync(join(place.work, 'half.txt'), 'on');
      const crashed = [...worklogsIn(place)].at(-1);
      await eventually(() => transcriptsIn(place).includes(LASTING), {
        what: 'the last call in the transcript',
        withinMs: WITHIN_MS,
      });
      await killAtOnce(processesOf(crashed?.[1]).at(-1));
      await second.ended;
      const before = peer.bodies.length;
      expect(await ask('hello').ended).toMatchObject({ code: 0 });
      const [context = '', ...more] = contextsIn(JSON.parse(peer.bodies[before] ?? '{}'));
      process.stdout.write(`the next agent of Codex is told:\n${context}\n`);
      expect(more).toEqual([]);
      for (const words of [
        `Session ${crashed?.[0]}: "break off"`,
        'Its agent crashed: process ',
        '[~] t2 "Write the tests"',
        'Next: step t2, which was in progress',
        '"half.txt": 2 bytes, changed since',
        `watchkeeper work continue ${crashed?.[0]}`,
        '1 more unfinished session of this directory',
      ])
        expect(context).toContain(words);
      // Each reader takes in first what the launcher has noted of ends.
      shown(place, 'work list --json');
      const events = ['conversation', 'run_started', 'context_given', 'run_ended'];
      expect(
        [...worklogsIn(place).values()].map((log) =>
          log.map(({ event }) => event).filter((event) => events.includes(event)),
        ),
      ).toEqual([
        // Each is told of the one before; the second was killed. Nobody sees what `codex exec` shows, so no crash counts as told.
        ['conversation', 'run_started', 'run_ended'],
        ['conversation', 'run_started', 'context_given'],
        ['conversation', 'run_started', 'context_given', 'run_ended'],
      ]);
    },
    LIMIT_MS,
  );
});
