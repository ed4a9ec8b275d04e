// covers: bridge/mcp/wire.ts bridge/mcp/serving.ts
/** Clients that leave, and clients that send what is no message. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { TOOLS } from '../../../bridge/mcp/tools.js';
import { LONGEST_MESSAGE_BYTES, wholeLines } from '../../../bridge/mcp/wire.js';
import { afterThisTest } from '../../harness/scope.js';
import { McpScene, serverProgram } from './mcpScene.js';

interface Answer {
  readonly id: unknown;
  readonly result?: {
    readonly structuredContent?: unknown;
    readonly protocolVersion?: string;
    readonly tools?: unknown[];
  };
  readonly error?: { readonly code: number; readonly message: string };
}

/** A client without a library. */
class RawClient {
  readonly server: ChildProcess;
  readonly #answers: Answer[] = [];
  #rest = '';
  #heard: () => void = () => undefined;

  constructor(scene: McpScene) {
    this.server = spawn(process.execPath, [serverProgram()], { cwd: scene.directory, env: scene.environment });
    this.server.stdout?.on('data', (chunk: Buffer) => {
      const lines = (this.#rest + chunk.toString('utf8')).split('\n');
      this.#rest = lines.pop() ?? '';
      this.#answers.push(...lines.map((line) => JSON.parse(line)));
      this.#heard();
    });
    this.server.stdin?.on('error', () => undefined);
    afterThisTest(() => void this.server.kill('SIGKILL'));
  }

  write(text: string | Buffer): void {
    this.server.stdin?.write(text);
  }

  send(id: number | null, method: string, params: object = {}): void {
    this.write(`${JSON.stringify({ jsonrpc: '2.0', ...(id !== null && { id }), method, params })}\n`);
  }

  begin(protocolVersion = '2024-11-05'): Promise<Answer> {
    this.send(0, 'initialize', { protocolVersion, capabilities: {}, clientInfo: { name: 'raw', version: '1' } });
    this.send(null, 'notifications/initialized');
    return this.answerTo(0);
  }

  async answerTo(id: number | null): Promise<Answer> {
    for (;;) {
      const found = this.#answers.find((answer) => answer.id === id);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#heard = resolve;
      });
    }
  }

  /** @returns its exit code, or the signal that ended it */
  async end(): Promise<unknown> {
    if (this.server.exitCode === null && this.server.signalCode === null) await once(this.server, 'exit');
    return this.server.exitCode ?? this.server.signalCode;
  }
}

const note = (text: string) => ({ name: 'add_note', arguments: { text } });

test('a client of 2024-11-05 lists the tools and calls one', async () => {
  const scene = new McpScene();
  await scene.begin('T');
  const client = new RawClient(scene);
  expect((await client.begin()).result?.protocolVersion).toBe('2024-11-05');
  client.send(1, 'tools/list');
  expect((await client.answerTo(1)).result?.tools).toHaveLength(TOOLS.length);
  client.send(2, 'tools/call', note('a'));
  expect((await client.answerTo(2)).result?.structuredContent).toMatchObject({ priority: 'normal' });
});

test.each(['SIGINT', 'SIGTERM', 'SIGHUP', 'end of input'] as const)(
  'after %s the calls that came are finished, and it exits with 0',
  async (way) => {
    const scene = new McpScene();
    const id = await scene.begin('T');
    const client = new RawClient(scene);
    await client.begin();
    client.send(1, 'tools/call', note('first'));
    await client.answerTo(1);
    for (let number = 2; number < 12; number += 1) client.send(number, 'tools/call', note(`note ${number}`));
    if (way === 'end of input') client.server.stdin?.end();
    else client.server.kill(way);
    expect(await client.end()).toBe(0);
    const notes = scene.lines(id).filter(({ event }) => event === 'note');
    // A signal may come before the rest of them.
    expect(notes.length).toBeGreaterThanOrEqual(way === 'end of input' ? 11 : 1);
    for (const [index, { text }] of notes.slice(1).entries()) expect(text).toBe(`note ${index + 2}`);
  },
);

test('it exits with 0 if nobody reads its answers any more', async () => {
  const scene = new McpScene();
  const client = new RawClient(scene);
  await client.begin();
  client.server.stdout?.destroy();
  client.send(1, 'tools/list');
  expect(await client.end()).toBe(0);
});

test('garbage, half a message and 50 MB store nothing, and the next call is answered', async () => {
  const scene = new McpScene();
  const id = await scene.begin('T');
  const client = new RawClient(scene);
  await client.begin();
  const before = scene.lines(id).length;
  client.write('{"jsonrpc": garbage\n\0\0\n[]\n"a"\n{}\n');
  const params = JSON.stringify({ name: 'add_note', arguments: { text: 'x'.repeat(50 * 1024 * 1024) } });
  client.write(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}\n`);
  expect((await client.answerTo(null)).error?.message).toContain(`longer than ${LONGEST_MESSAGE_BYTES} bytes`);
  expect(scene.lines(id)).toHaveLength(before);
  client.send(2, 'tools/call', note('whole'));
  expect((await client.answerTo(2)).result?.structuredContent).toMatchObject({ session_id: id });
  client.write(
    '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"add_note","arguments":{"text":"half"}}}',
  );
  client.server.stdin?.end();
  expect(await client.end()).toBe(0);
  expect(scene.lines(id)).toHaveLength(before + 1);
});

test('only whole lines arrive, in whatever pieces they come, and none that is too long', () => {
  const input = new PassThrough();
  const said: string[] = [];
  const lines: string[] = [];
  const take = (line: Buffer) => lines.push(line.toString('utf8'));
  wholeLines(input, take, (line) => said.push(line));
  const give = (text: string | Buffer) => input.emit('data', Buffer.from(text));
  for (const piece of ['on', 'e\ntw', 'o\nthree\nfo']) give(piece);
  const part = Buffer.alloc(1024 * 1024, 'x');
  for (let bytes = 0; bytes <= LONGEST_MESSAGE_BYTES; bytes += part.length) give(part);
  for (const piece of ['end\nfive\n', 'six']) give(piece);
  expect(lines.join('')).toBe('one\ntwo\nthree\nfive\n');
  expect(said).toHaveLength(1);
});
