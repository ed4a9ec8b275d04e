/** Failures that come back in sessions of a real Claude Code, and what its next agent hears of them. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { compiledProgram } from '../../src/host/program.js';
import { call, say } from '../peers/modelBlocks.js';
import {
  askClaude,
  ClaudeTerminal,
  type Deeds,
  describeWithClaude,
  nextOf,
  type TerminalPlace,
  terminalPlace,
} from './claudeTerminal.js';
import { eventually } from './eventually.js';
import { shown, worklogsIn } from './recorded.js';

// covers: memory/learnings/draw.ts memory/brief/lessons.ts memory/verbs/summary.ts

const LIMIT_MS = 240_000;
const WATCHKEEPER = `${process.execPath} ${compiledProgram('bridge/cli/main')}`;
const ALLOWED = { defaultMode: 'acceptEdits', allow: ['Bash', 'Write'] };
const LESSON = 'npm test needs the file redis: touch redis';
/** Another port each time. */
const CHECK = 'test -f redis || { echo "Error: connect ECONNREFUSED 127.0.0.1:$((6000 + $$ % 1000))" >&2; exit 1; }\n';

const bash = (command: string) => [call('Bash', { command })];
const work = (word: string): Deeds => ({
  [`paint the ${word}`]: [
    bash('npm test'),
    bash('grep -rn noSuchWord check.sh'),
    bash('touch redis'),
    [call('Write', { file_path: `./${word}.ts`, content: 'done' })],
    bash('npm test'),
    [say(`Painted: ${word}.`)],
  ],
});

/** One agent has a terminal, the others have none, which costs half as much. */
async function paint(place: TerminalPlace, claude: string, word: string, hasTerminal: boolean): Promise<void> {
  rmSync(join(place.work, 'redis'), { force: true });
  const [prompt, answer] = [`paint the ${word}`, `Painted: ${word}.`];
  if (!hasTerminal) {
    expect(await askClaude(place, claude, prompt).ended).toMatchObject({ out: `${answer}\n` });
    return;
  }
  const agent = new ClaudeTerminal(place, claude, place.work);
  await agent.type(prompt);
  await agent.shows(answer);
  await agent.type('/exit');
  await agent.ended;
}

function firstRequestWith({ peer }: TerminalPlace, prompt: string): string {
  const found = peer.requests.find(({ request }) => nextOf({ [prompt]: [] }, request) !== null);
  return JSON.stringify(found?.request ?? null);
}

describeWithClaude('a real Claude Code', (claude) => {
  test(
    'fails alike in three sessions: the next agent hears a count, and after somebody has added it, the lesson',
    async () => {
      const deeds: Record<string, Deeds[string]> = {
        ...work('door'),
        ...work('window'),
        ...work('fence'),
        'what now': [[say('Nothing yet.')]],
        'and now': [[say('I know it.')]],
      };
      const place = await terminalPlace((request) => nextOf(deeds, request) ?? [say('A title.')], ALLOWED);
      execFileSync('git', ['init', '-q', '-b', 'main'], { cwd: place.work });
      writeFileSync(join(place.work, 'package.json'), '{"scripts":{"test":"sh check.sh"}}');
      writeFileSync(join(place.work, 'check.sh'), CHECK);
      for (const word of ['door', 'window', 'fence']) await paint(place, claude, word, word === 'door');

      const drawn = shown<{ failures: object[] }>(place, 'learn draw --json');
      const again = { tool: 'shell', command: 'npm test', count: 3, sessions: 3, days: 1 };
      const after = expect.arrayContaining([{ call: 'touch redis', count: 3 }]);
      const way = { call: null, after, count: 3 };
      expect(drawn.failures).toEqual([
        expect.objectContaining({
          ...again,
          error: 'Error: connect ECONNREFUSED <address>',
          worked: [way],
          added: false,
        }),
      ]);
      const [id = ''] = worklogsIn(place).keys();
      const text = shown<string>(place, `work summary ${id} --pr`);
      expect(text).toContain('# paint the door\n\nPainted: door.\n');
      expect(text).toContain('- `door.ts` (created)\n');
      expect(text).toContain('- `npm test` passed\n');

      const log = join(place.home, 'learnings.jsonl');
      const kept = () => (existsSync(log) ? readFileSync(log, 'utf8').split('\n').length - 1 : 0);
      await eventually(() => kept() === 3, { what: 'three sessions kept', withinMs: 30_000 });
      expect(await askClaude(place, claude, 'what now').ended).toMatchObject({ out: 'Nothing yet.\n' });
      expect(firstRequestWith(place, 'what now')).toContain('1 failure came back here in 3 or more sessions');

      const [{ id: tag = '' } = {}] = shown<{ failures: { id?: string }[] }>(place, 'learn draw --json').failures;
      execFileSync('sh', ['-c', `${WATCHKEEPER} learn add '${LESSON}' --tag ${tag}`], {
        ...{ cwd: place.work, env: place.environment },
      });
      expect(await askClaude(place, claude, 'and now').ended).toMatchObject({ out: 'I know it.\n' });
      const request = firstRequestWith(place, 'and now');
      expect(request).not.toContain('came back here');
      const fence = /<session-record>((?:(?!<\/?session-record>).)*)<\/session-record>/gs;
      expect(request).toContain(LESSON);
      expect(request.replaceAll(fence, '')).not.toContain(LESSON);
    },
    LIMIT_MS,
  );
});
