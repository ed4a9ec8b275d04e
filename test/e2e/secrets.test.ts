/** Agents that print secrets, seen from outside: what people read of them, everywhere, and what lies on the disk. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { compiledProgram } from '../../src/host/program.js';
import { testFolder } from '../harness/folder.js';
import { everythingBelow, piecesIn, plantedTexts } from '../secrets/planted.js';
import type { BridgeScene } from './bridgeScene.js';
import { Conversation, FAILURE_PARAGRAPH } from './conversation.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS, sayIn } from './testScene.js';

/** More than every tail that is kept of an output: 500, 1,000 and 8,192 characters, and the window behind them. */
const KEY_LENGTHS = [1_500, 12_000, 200_000];
const FRAGMENT = 12;
const MOST_SHOWN = 10;
const READ_BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  hash: ['HGETALL'],
  list: ['LRANGE', '0', '-1'],
  set: ['SMEMBERS'],
  zset: ['ZRANGE', '0', '-1'],
  stream: ['XRANGE', '-', '+'],
};

/** The agent: prints what its file holds, on the output that it was told. */
const AGENT = `
const { readFileSync } = require('node:fs');
const [, , how, file] = process.argv;
const text = readFileSync(file, 'utf8');
const say = (line) => process.stdout.write(JSON.stringify(line) + '\\n');
const done = (code) => process.stdout.write('', () => process.stderr.write('', () => (process.exitCode = code)));
if (how === 'stderr') { process.stderr.write(text); done(1); }
if (how === 'stdout') { process.stdout.write(text); done(3); }
if (how === 'lines') {
  const account = JSON.stringify({ type: 'service_account', private_key: text, client_email: 'a@b.example' });
  const input = { command: 'cat >k <<E\\n' + text + 'E', env: { account, password: 'quiet-Hunter2', nested: JSON.stringify({ account }) } };
  say({ event: 'note', text });
  say({ event: 'pre_tool_use', tool_use_id: 'a', tool_name: 'bash', tool_input: input });
  say({ event: 'post_tool_use', tool_use_id: 'a', tool_name: 'bash', outcome: 'ok', tool_output: 'x'.repeat(1900) + '\\n' + text });
  say({ event: 'pre_tool_use', tool_use_id: 'b', tool_name: 'bash', tool_input: { account, command: 'cat' } });
  say({ event: 'post_tool_use', tool_use_id: 'b', tool_name: 'bash', outcome: 'ok', tool_output: 'y'.repeat(15900) + account });
  say({ event: 'failure', cause: 'crash', detail: 'it read ' + JSON.stringify({ account }) });
  done(1);
}
`;

/** Says, reads, writes, plans and tracks what its file holds, and breaks. */
const TALKATIVE = `
const { execFileSync } = require('node:child_process');
const { readFileSync, writeFileSync } = require('node:fs');
const [, , file, main] = process.argv;
const texts = JSON.parse(readFileSync(file, 'utf8'));
const say = (line) => process.stdout.write(JSON.stringify(line) + '\\n');
writeFileSync(file + '.' + process.env.WATCHKEEPER_SESSION, readFileSync(0, 'utf8'));
const track = (...words) => process.env.WATCHKEEPER_SESSION.endsWith('_r1') || execFileSync(process.execPath, [main, 'track', ...words]);
say({ event: 'plan', mode: 'replace', items: texts.map((title, index) => ({ title, external_id: title, status: index === 1 ? 'in_progress' : 'pending' })) });
texts.forEach((text, index) => {
  const id = String(index);
  say({ event: 'note', text });
  say({ event: 'pre_tool_use', tool_use_id: id, tool_name: index % 2 ? 'bash' : 'write', tool_input: { command: text, path: text, nested: { list: [text] } } });
  say({ event: 'files', tool_use_id: id, created: [text], modified: [text + ' 2'], renamed: [{ from: text + ' 3', to: text + ' 4' }] });
  say({ event: 'post_tool_use', tool_use_id: id, tool_name: 'bash', outcome: index % 2 ? 'ok' : 'failed', tool_output: text });
});
const ways = [['step', '--add'], ['note', '--priority', 'critical'], ['log'], ['file', '--working']];
texts.slice(0, 8).forEach((text, index) => track(...ways[index % ways.length], text));
track('step', '1', '--start', '--file', texts[9]);
say({ event: 'pre_tool_use', tool_use_id: 'last', tool_name: 'write', tool_input: { path: texts[10] } });
say({ event: 'failure', cause: 'crash', detail: texts[11] });
process.exitCode = 1;
`;

function privateKey(length: number): string {
  const body = randomBytes(length).toString('base64').slice(0, length);
  const lines = body.match(/.{1,64}/g) ?? [];
  return ['-----BEGIN RSA PRIVATE KEY-----', ...lines, '-----END RSA PRIVATE KEY-----', ''].join('\n');
}

/** @returns what of the secrets can be read in the text: any {@link FRAGMENT} characters of them in a row */
function fragmentsIn(text: string, secrets: readonly string[]): string[] {
  const piece = new RegExp(`[^\\n]{${FRAGMENT}}`, 'g');
  const pieces = new Set(secrets.flatMap((secret) => secret.match(piece) ?? []));
  const found = new Set<string>();
  for (let at = 0; at + FRAGMENT <= text.length; at += 1) {
    const part = text.slice(at, at + FRAGMENT);
    if (pieces.has(part)) found.add(part);
  }
  return [...found].slice(0, MOST_SHOWN);
}

describeScenes('a private key, and the tokens of the bridge, printed by an agent', () => {
  test.each(KEY_LENGTHS)(
    'are legible nowhere if the key has %d characters: chat, issue, event, journal, log, commands',
    async (length) => {
      const folder = testFolder();
      const script = join(folder, 'agent.cjs');
      const printed = join(folder, 'printed');
      writeFileSync(script, AGENT);
      const agent = (how: string, output: string) => ({
        kind: 'command',
        command: [process.execPath, script, how, printed],
        output,
      });
      const scene = await openTestScene({
        projects: {
          errors: { chats: [{ id: 71 }], agent: agent('stderr', 'text') },
          output: { chats: [{ id: 72 }], agent: agent('stdout', 'text') },
          lines: { chats: [{ id: 73 }], agent: agent('lines', 'json_lines') },
        },
      });
      await scene.github.setPrivate(true);
      const key = privateKey(length);
      const { token: bot } = scene.telegram;
      const { token: github } = scene.github;
      // The last two stand across the cuts of the last 1,000 and the last 500 characters.
      const padded = [`${bot} ${'z'.repeat(960)} ${github} ${'z'.repeat(485)}`, ''].join('\n');
      writeFileSync(printed, `before\n${key}it broke\n${padded}`);
      await scene.startBridge();

      const asked = [
        new Conversation(scene, 'errors', 71, 'go'),
        new Conversation(scene, 'output', 72, 'go'),
        new Conversation(scene, 'lines', 73, 'go'),
      ];
      for (const one of asked) {
        await one.answered(FAILURE_PARAGRAPH, 40_000);
        await one.closing(one.revival);
      }

      // The commands print from files and keys, which are searched for each length; a key as long as this stands in every tail.
      const words = [
        ['sessions', '--json', '--all'],
        ['events', '--json'],
      ];
      if (length === Math.max(...KEY_LENGTHS))
        for (const { revival } of asked) words.push(['session', revival, '--json'], ['session', revival]);
      const commands = [];
      for (const args of words) commands.push((await sayIn(scene, args)).out);
      const seen: Record<string, string> = {
        chats: JSON.stringify([71, 72, 73].map((chat) => scene.telegram.botMessages(chat))),
        everShown: JSON.stringify(scene.evidence.transcript()),
        issues: JSON.stringify(scene.github.issues()),
        issueWrites: JSON.stringify(scene.evidence.issueWrites()),
        commands: commands.join('\n'),
        keys: JSON.stringify(await everythingStored(scene)),
      };
      for (const name of readdirSync(scene.logs, { recursive: true, encoding: 'utf8' })) {
        if (/\.(?:jsonl|log|md|json)$/.test(name)) seen[name] = readFileSync(join(scene.logs, name), 'utf8');
      }
      expect(Object.keys(seen)).toEqual(expect.arrayContaining(['bridge.log', 'critical_events.jsonl']));
      expect(seen.issues).toContain('Watchdog');
      const secrets = [...key.split('\n').slice(1, -2), bot, github, 'quiet-Hunter2'];
      const found = Object.entries(seen).map(([where, text]) => [where, fragmentsIn(text, secrets)] as const);
      expect(found.filter(([, fragments]) => fragments.length > 0)).toEqual([]);
    },
    2 * SCENE_TIMEOUT_MS,
  );
});

describeScenes('secrets in what an agent says, reads, writes, plans and tracks', () => {
  test(
    'are legible nowhere: chat, issue, journal, worklog, state, the context of the second attempt, commands',
    async () => {
      const folder = testFolder();
      const [script, file] = [join(folder, 'agent.cjs'), join(folder, 'texts.json')];
      writeFileSync(script, TALKATIVE);
      const texts = plantedTexts();
      writeFileSync(file, JSON.stringify(texts));
      const command = [process.execPath, script, file, compiledProgram('bridge/cli/main')];
      const agent = { kind: 'command', command, output: 'json_lines' };
      const scene = await openTestScene({ projects: { talk: { chats: [{ id: 71 }], agent } } });
      await scene.github.setPrivate(true);
      await scene.startBridge();
      const message = `do it, ${texts[0]}`;
      const asked = new Conversation(scene, 'talk', 71, message);
      await asked.answered(FAILURE_PARAGRAPH, 40_000);
      await asked.closing(asked.revival);

      const seen = everythingBelow(scene.logs);
      for (const args of [
        ['session', asked.session, '--json'],
        ['session', asked.session],
        ['work', 'show', asked.session, '--json', '--dir', scene.logs],
        ['work', 'export', asked.session, '--dir', scene.logs],
        ['track', 'resume', asked.session, '--dir', scene.logs],
        ['session', asked.revival, '--json'],
        ['session', asked.revival],
        ['work', 'show', asked.revival, '--json', '--dir', scene.logs],
      ])
        seen.set(args.join(' '), (await sayIn(scene, args)).out);
      const prompt = readFileSync(`${file}.${asked.revival}`, 'utf8');
      expect(prompt.startsWith(message)).toBe(true);
      seen.set('prompt', prompt.slice(message.length));
      seen.set('chat', JSON.stringify(scene.telegram.botMessages(71)));
      const shown = scene.evidence.transcript().filter(({ who }) => who === 'bot');
      seen.set('everShown', JSON.stringify(shown));
      seen.set('issues', JSON.stringify(scene.github.issues()));
      const worklog = seen.get(join('sessions', asked.session, 'worklog.jsonl'));
      expect(worklog).toContain('"event":"note"');
      expect(seen.get('prompt')).toContain('Next: step 1');
      const found = [...seen].map(([where, text]) => [where, piecesIn(text)] as const);
      expect(found.filter(([, pieces]) => pieces.length > 0)).toEqual([]);
    },
    2 * SCENE_TIMEOUT_MS,
  );
});

/** @returns every key of the scene's Redis, and what it holds */
async function everythingStored({ redis }: BridgeScene): Promise<unknown> {
  const keys = (await redis.ask('KEYS', '*')) as string[];
  return Promise.all(
    keys.map(async (key) => {
      const read = READ_BY_TYPE[String(await redis.ask('TYPE', key))] ?? ['GET'];
      return [key, await redis.ask(read[0] ?? '', key, ...read.slice(1))];
    }),
  );
}
