/** Claude Code is killed in mid-step: who starts next is told, and nobody who is well is accused. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { readStat } from '../../src/host/procfs.js';
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
import { contextsIn, killAtOnce, LASTING, processesOf, shown, transcriptsIn, worklogsIn } from './recorded.js';

const LIMIT_MS = 240_000;
const WROTE = 'half';
const WATCHKEEPER = `${process.execPath} ${compiledProgram('bridge/cli/main')}`;
const ALLOWED = { defaultMode: 'acceptEdits', allow: ['Bash', 'Write', 'TaskCreate', 'TaskUpdate'] };

const DEEDS: Deeds = {
  'repair the parser': [
    [
      call('TaskCreate', { subject: 'Find the cause', description: 'x' }),
      call('TaskCreate', { subject: 'Write the tests', description: 'x' }),
    ],
    [
      call('TaskUpdate', { taskId: '1', status: 'completed' }),
      call('TaskUpdate', { taskId: '2', status: 'in_progress' }),
    ],
    [call('Write', { file_path: './parser.test.ts', content: WROTE })],
    [call('Bash', { command: LASTING, timeout: 600_000 })],
  ],
  'paint the door': [[say('The door is green.')]],
  'mow the lawn': [[say('The lawn is short.')]],
  'just say hi': [[say('hi')]],
  'build the shed': [
    [call('Bash', { command: `${WATCHKEEPER} track init "Build the shed" && ${WATCHKEEPER} track done` })],
    [say('The shed is built.')],
  ],
  'paint the roof': [
    [call('Write', { file_path: './roof.ts', content: WROTE })],
    [call('Bash', { command: LASTING, timeout: 600_000 })],
  ],
  'first make a b': [[say('I wrote b.')]],
  'after the clear, do more': [[call('Bash', { command: LASTING, timeout: 600_000 })]],
  'go on here': [[say('I was told.')]],
};

/** @returns what the first request with the prompt says of other sessions */
function toldWith({ peer }: TerminalPlace, prompt: string): string[] {
  const seen = peer.requests.find(({ request }) => nextOf({ [prompt]: [] }, request) !== null);
  if (seen === undefined) throw new Error(`no request has the prompt ${prompt}`);
  return contextsIn(seen.request);
}

describeWithClaude('a real Claude Code that is killed', (claude) => {
  test(
    'is told to the next one and to the person, with what was half done; agents that live are not accused',
    async () => {
      const place = await terminalPlace((request) => nextOf(DEEDS, request) ?? [say('A title.')], ALLOWED, ['garden']);
      const garden = join(place.work, '../garden');
      const begun = async (prompt: string, answer: string, directory = place.work) => {
        const terminal = new ClaudeTerminal(place, claude, directory);
        await terminal.type(prompt);
        await terminal.shows(answer);
        return terminal;
      };
      const idOf = (count: number) => [...worklogsIn(place).keys()][count - 1] ?? '';
      await begun('paint the door', 'The door is green.');
      await begun('mow the lawn', 'The lawn is short.', garden);
      const victim = new ClaudeTerminal(place, claude, place.work);
      await victim.type('repair the parser');
      await victim.until('the last call', () => existsSync(join(place.work, 'started')));
      const [door, , parser] = [1, 2, 3].map(idOf) as [string, string, string];
      await victim.until('the last call in the transcript', () => transcriptsIn(place).includes(LASTING));
      await killAtOnce(processesOf(worklogsIn(place).get(parser)).at(-1));
      await victim.ended;

      expect(shown(place, 'track crash-detect --json')).toMatchObject([
        { session_id: parser, purpose: 'repair the parser', files: [{ path: 'parser.test.ts', size: WROTE.length }] },
      ]);

      // Nobody sees what `claude -p` shows: it does not use up the line.
      await askClaude(place, claude, 'just say hi').ended;
      const next = await begun('go on here', 'I was told.');
      const line = `watchkeeper: an agent here crashed, just now: repair the parser (1 of 2 steps done). The new agent has its record; you can read it with: watchkeeper track resume ${parser}`;
      await next.shows(line);
      const [context = '', ...others] = toldWith(place, 'go on here');
      process.stdout.write(`the next agent is told:\n${context}\n`);
      expect(others).toEqual([]);
      for (const words of [
        `Session ${parser}: "repair the parser"`,
        'Its agent crashed: process ',
        '[~] t2 "Write the tests"',
        'Next: step t2, which was in progress',
        `"parser.test.ts": ${WROTE.length} bytes`,
        'without a result',
        `watchkeeper work continue ${parser}`,
      ])
        expect(context).toContain(words);
      expect(context).not.toContain('the door');
      // One that has heard of it has no other to hear of.
      await askClaude(place, claude, 'mow the lawn again', { directory: garden }).ended;
      expect(toldWith(place, 'mow the lawn again')).toEqual([]);

      await killAtOnce(processesOf(worklogsIn(place).get(door)).at(-1));
      const reborn = await begun('go on here, too', 'I was told.');
      await reborn.shows('watchkeeper: an agent here crashed, just now: paint the door.');
      const [of = ''] = toldWith(place, 'go on here, too');
      expect(of).toContain(`Session ${door}: "paint the door"`);
      expect(of).toContain('is gone and did not report its end');
    },
    LIMIT_MS,
  );

  test(
    'or whose window is closed in the middle of a turn is told first, also after a chat that was answered and left',
    async () => {
      const place = await terminalPlace((request) => nextOf(DEEDS, request) ?? [say('A title.')], ALLOWED);
      const closed = new ClaudeTerminal(place, claude, place.work);
      await closed.type('paint the roof');
      await closed.until('the last call', () => existsSync(join(place.work, 'started')));
      await closed.until('the last call in the transcript', () => transcriptsIn(place).includes(LASTING));
      const [[roof, log] = ['', []]] = [...worklogsIn(place)];
      const pid = processesOf(log).at(-1) ?? 0;
      closed.close();
      await closed.until('the end of the program', () => typeof readStat(pid) === 'string');
      expect(shown(place, 'track crash-detect --json')).toMatchObject([
        { session_id: roof, kind: 'cut_off', files: [{ path: 'roof.ts', size: WROTE.length }] },
      ]);

      const chat = new ClaudeTerminal(place, claude, place.work);
      await chat.shows('watchkeeper: an agent here was cut off, just now: paint the roof.');
      await chat.type('paint the door');
      await chat.shows('The door is green.');
      await chat.type('/exit');
      await chat.ended;
      const listed = shown<{ session_id: string; state: string }[]>(place, 'work list --json');
      expect(listed.map(({ session_id, state }) => [session_id, state])).toEqual([[roof, 'cut off']]);

      await askClaude(place, claude, 'go on here').ended;
      const [context = ''] = toldWith(place, 'go on here');
      expect(context).toContain(`Session ${roof}: "paint the roof"`);
      expect(context).toContain('Its agent was cut off: process ');
      expect(context).toContain(`"roof.ts": ${WROTE.length} bytes`);
    },
    LIMIT_MS,
  );

  test(
    'in the window in which its session had ended is told to the next one, with what it was asked since',
    async () => {
      const place = await terminalPlace((request) => nextOf(DEEDS, request) ?? [say('A title.')], ALLOWED);
      const victim = new ClaudeTerminal(place, claude, place.work);
      await victim.type('build the shed');
      await victim.shows('The shed is built.');
      await victim.type('paint the roof');
      await victim.until('the last call', () => existsSync(join(place.work, 'started')));
      await victim.until('the last call in the transcript', () => transcriptsIn(place).includes(LASTING));
      const roof = [...worklogsIn(place).keys()].at(-1) ?? '';
      await killAtOnce(processesOf(worklogsIn(place).get(roof)).at(-1));
      await victim.ended;
      await askClaude(place, claude, 'go on here').ended;
      const next = new ClaudeTerminal(place, claude, place.work);
      await next.shows('watchkeeper: an agent here crashed, just now: paint the roof.');
      const [context = ''] = toldWith(place, 'go on here');
      expect(context).toContain(`Session ${roof}: "paint the roof"`);
      expect(context).toContain(`"roof.ts": ${WROTE.length} bytes`);
      const listed = shown<{ session_id: string; purpose: string }[]>(place, 'work list --all --json');
      const shed = listed.find(({ purpose }) => purpose === 'Build the shed');
      expect(JSON.stringify(shown(place, `work show ${shed?.session_id} --json`))).not.toContain('roof.ts');
    },
    LIMIT_MS,
  );

  test(
    'is told to the next one and to the person with what it was asked last, also after /clear',
    async () => {
      const place = await terminalPlace((request) => nextOf(DEEDS, request) ?? [say('A title.')], ALLOWED);
      const victim = new ClaudeTerminal(place, claude, place.work);
      await victim.type('first make a b');
      await victim.shows('I wrote b.');
      await victim.type('/clear');
      const conversations = () =>
        [...worklogsIn(place).values()].flat().filter(({ event }) => event === 'conversation');
      await victim.until('the new conversation', () => conversations().length === 2);
      await victim.type('after the clear, do more');
      await victim.until('the call in the transcript', () => transcriptsIn(place).includes(LASTING));
      await killAtOnce(processesOf([...worklogsIn(place).values()].at(-1)).at(-1));
      await victim.ended;
      const [report] = shown<{ last_asked: string }[]>(place, 'track crash-detect --json');
      expect(report?.last_asked).toBe('after the clear, do more');
      const next = new ClaudeTerminal(place, claude, place.work);
      await next.type('go on here');
      await next.shows('crashed, just now: first make a b; last asked: after the clear, do more. The new agent');
      await next.shows('I was told.');
      const [context = ''] = toldWith(place, 'go on here');
      process.stdout.write(`${context}\n`);
      expect(context).toContain('\nIt was last asked: "after the clear, do more"\nIts last turn did not end');
      expect(context).toContain(`The agent's last words, from before its last prompt: "I wrote b."`);
    },
    LIMIT_MS,
  );
});
