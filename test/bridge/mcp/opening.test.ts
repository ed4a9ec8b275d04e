// covers: bridge/mcp/opening.ts bridge/mcp/openingForms.ts bridge/mcp/library.ts
/** What is answered without the library is, byte for byte, what the library answers; so is all that follows. */
import { PassThrough } from 'node:stream';
import { expect, test } from '@jest/globals';
import { serveByLibrary } from '../../../bridge/mcp/library.js';
import { listTools } from '../../../bridge/mcp/listing.js';
import { Opening } from '../../../bridge/mcp/opening.js';
import type { Offered } from '../../../bridge/mcp/server.js';
import { serve } from '../../../bridge/mcp/serving.js';
import { systemClock } from '../../../src/time.js';

const OFFERED: Offered = {
  version: '1.2.3',
  tools: listTools().slice(0, 2),
  callTool: async (name, args, meta) => ({ value: { name, args, meta }, isError: false }),
};
const CLIENT = { name: 'c', version: '1' };
const NEWEST = '2026-07-28';

const request = (id: unknown, method: string, params?: unknown) => ({ jsonrpc: '2.0', id, method, params });
const notice = (method: string, params?: unknown) => ({ jsonrpc: '2.0', method, params });
const hello = (protocolVersion: unknown, more: object = {}) =>
  request(0, 'initialize', { protocolVersion, capabilities: {}, clientInfo: CLIENT, ...more });
const enveloped = (params: object = {}, meta: object = {}) => ({
  ...params,
  _meta: {
    'io.modelcontextprotocol/protocolVersion': NEWEST,
    'io.modelcontextprotocol/clientInfo': CLIENT,
    'io.modelcontextprotocol/clientCapabilities': {},
    ...meta,
  },
});
const READY = notice('notifications/initialized');
const CALL = request('call', 'tools/call', { name: 'add_note', arguments: { text: 'a' }, _meta: { threadId: 't' } });
const NEW_CALL = request('call', 'tools/call', enveloped({ name: 'add_note', arguments: { text: 'a' } }));
const DISCOVER = request('d', 'server/discover', enveloped());
const LIST = request('l', 'tools/list');
const NEW_LIST = request('l', 'tools/list', enveloped());

/** Each is a message, or a line as it is. The last one is answered. */
type Talk = readonly (object | string)[];

/** Whether no message needs the library. */
const QUICK: readonly (readonly [string, Talk])[] = [
  ...['2024-10-07', '2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'].map(
    (revision) => [`a client of ${revision}`, [hello(revision), READY, LIST, request(7, 'ping')]] as const,
  ),
  [`a client of ${NEWEST}`, [DISCOVER, NEW_LIST]],
  ['one that asks twice', [DISCOVER, DISCOVER, NEW_LIST, DISCOVER, NEW_LIST]],
  ['one that does not discover', [NEW_LIST]],
  ['one that falls back', [DISCOVER, hello('2025-06-18'), READY, LIST]],
  ['one that says nothing of being ready', [hello('2025-06-18'), LIST]],
  [
    'one that names tokens of progress',
    [
      hello('2025-06-18', { _meta: { progressToken: 0 } }),
      READY,
      READY,
      request(1, 'tools/list', { _meta: { progressToken: 'a' } }),
    ],
  ],
  [
    'one with capabilities',
    [
      hello('2025-11-25', {
        capabilities: {
          ...{ roots: { listChanged: true }, sampling: {}, elicitation: { form: { applyDefaults: true }, url: {} } },
          ...{ experimental: { a: { b: [1] } }, extensions: { 'io.x/ui': { types: ['a'] } }, tasks: { list: {} } },
        },
        clientInfo: { ...CLIENT, title: 'C', websiteUrl: 'https://c.invalid', description: 'd' },
      }),
      LIST,
    ],
  ],
  [
    'an empty text as the id',
    [request('', 'server/discover', enveloped({}, { traceparent: '00-a', progressToken: 3 }))],
  ],
];

/** Some message does. */
const SLOW: readonly (readonly [string, Talk])[] = [
  ['a call after a handshake', [hello('2025-06-18'), READY, LIST, CALL]],
  ['a call that comes at once', [hello('2025-11-25'), CALL]],
  ['a call without a handshake', [CALL]],
  [`a call of ${NEWEST}`, [DISCOVER, NEW_LIST, NEW_CALL]],
  ['one that is nothing but a call', [NEW_CALL]],
  ['one after discovering alone', [DISCOVER, NEW_CALL]],
  ['an older call after discovering', [DISCOVER, CALL]],
  ['an older call after a newer list', [DISCOVER, NEW_LIST, CALL, request(9, 'ping')]],
  ['a newer call after a handshake', [hello('2025-11-25'), READY, NEW_CALL, DISCOVER, NEW_LIST, CALL]],
  ['a handshake after a newer list', [NEW_LIST, hello('2025-11-25')]],
  ['a second handshake', [hello('2025-11-25'), hello('2025-06-18')]],
  ['the id of the handshake again', [hello('2025-11-25'), { ...CALL, id: 0 }, { ...LIST, id: 0 }]],
  ['an unknown revision', [hello('1999-01-01'), LIST]],
  ['the newest revision in a handshake', [hello(NEWEST), LIST]],
  ['no revision', [hello(7)]],
  ['a list without a handshake', [LIST, request(1, 'ping')]],
  ['ping without a handshake', [request(1, 'ping')]],
  ['a list from a place', [hello('2025-11-25'), request(1, 'tools/list', { cursor: 'a' })]],
  ['a method that there is not', [hello('2025-11-25'), request(1, 'resources/list'), LIST]],
  ['a newer one that there is not', [DISCOVER, request(1, 'resources/list', enveloped())]],
  ['a newer ping', [request(1, 'ping', enveloped())]],
  ['garbage before and after', ['garbage', '[]', '{}', hello('2025-06-18'), 'null', LIST]],
  ['a batch', [hello('2025-03-26'), [LIST, request(2, 'ping')], request(3, 'ping')]],
  ['an answer that was not asked for', [hello('2025-03-26'), { jsonrpc: '2.0', id: 1, result: {} }, LIST]],
  ['a member too many', [{ ...hello('2025-06-18'), more: 1 }, LIST]],
  ['another version of JSON-RPC', [{ ...hello('2025-06-18'), jsonrpc: '1.0' }, LIST]],
  ['no capabilities', [hello('2025-06-18', { capabilities: undefined })]],
  ['capabilities that are none', [hello('2025-06-18', { capabilities: { roots: true } })]],
  ['a client without a version', [hello('2025-06-18', { clientInfo: { name: 'a' } })]],
  ['a client with icons', [hello('2025-06-18', { clientInfo: { ...CLIENT, icons: [] } }), LIST]],
  ['a fraction as the id', [{ ...hello('2025-06-18'), id: 1.5 }, LIST]],
  ['null as the id', [{ ...hello('2025-06-18'), id: null }, LIST]],
  ['parameters that are a list', [hello('2025-06-18'), request(1, 'ping', [])]],
  ['a token of progress that is none', [hello('2025-06-18'), request(1, 'ping', { _meta: { progressToken: {} } })]],
  [
    'a reserved name',
    [hello('2025-06-18'), request(1, 'ping', { _meta: { 'io.modelcontextprotocol/related-task': 1 } })],
  ],
  [
    'an envelope of no revision',
    [request(1, 'tools/list', enveloped({}, { 'io.modelcontextprotocol/protocolVersion': 'x' }))],
  ],
  [
    'an envelope without a client',
    [request(1, 'tools/list', enveloped({}, { 'io.modelcontextprotocol/clientInfo': {} }))],
  ],
  ['an envelope with more', [request(1, 'tools/list', enveloped({}, { 'io.modelcontextprotocol/logLevel': 'x' }))]],
  ['discovering without an envelope', [request(1, 'server/discover', {}), hello('2025-06-18'), LIST]],
  [
    'a handshake in an envelope',
    [request(1, 'initialize', enveloped({ protocolVersion: '2025-06-18', capabilities: {} }))],
  ],
  ['a subscription', [DISCOVER, NEW_LIST, request(1, 'subscriptions/listen', enveloped({ notifications: {} }))]],
];

const linesOf = (talk: Talk) =>
  talk.map((one) => Buffer.from(`${typeof one === 'string' ? one : JSON.stringify(one)}\n`));

/** @returns the lines that were written once nothing more comes, sorted: the library answers requests that come at once in any order */
async function settled(output: PassThrough): Promise<string[]> {
  let text = '';
  output.on('data', (chunk: Buffer) => {
    text += chunk.toString('utf8');
  });
  for (let quiet = 0, before = 0; quiet < 20; quiet += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    if (text.length !== before) quiet = 0;
    before = text.length;
  }
  return text.split('\n').sort();
}

async function byLibrary(talk: Talk): Promise<string[]> {
  const [input, output] = [new PassThrough(), new PassThrough()];
  serveByLibrary(OFFERED, input, output);
  for (const line of linesOf(talk)) input.write(line);
  return settled(output);
}

/** @returns the answers, and whether the library was loaded */
async function byServer(talk: Talk): Promise<{ readonly lines: string[]; readonly isLoaded: boolean }> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  let isLoaded = false;
  const load = () => {
    isLoaded = true;
    return { serveByLibrary };
  };
  serve(OFFERED, load, { stdin, stdout, on: () => undefined, exit: () => undefined }, systemClock);
  for (const line of linesOf(talk)) stdin.write(line);
  return { lines: await settled(stdout), isLoaded };
}

test.each(QUICK)('%s is answered without the library, in its words', async (_, talk) => {
  const lines = await byLibrary(talk);
  expect(lines.join()).toContain('"result"');
  expect(await byServer(talk)).toEqual({ lines, isLoaded: false });
});

test.each(SLOW)('%s is left to the library, as if it had been there before', async (_, talk) => {
  expect(await byServer(talk)).toEqual({ lines: await byLibrary(talk), isLoaded: true });
});

test('after each quick message the library can take over', async () => {
  for (const [, talk] of QUICK)
    for (let length = 1; length <= talk.length; length += 1)
      for (const next of [CALL, NEW_CALL]) {
        const whole = [...talk.slice(0, length), next];
        expect((await byServer(whole)).lines).toEqual(await byLibrary(whole));
      }
});

test.each([
  ['older', [hello('2025-11-25'), READY, LIST], { requestId: 'l' }, CALL, LIST],
  ['newer', [DISCOVER, NEW_LIST], enveloped({ requestId: 'l' }), NEW_CALL, NEW_LIST],
] as const)(
  'cancelling an answered request of an %s client changes nothing',
  async (_, talk, cancelled, last, list) => {
    const whole = [...talk, last, list];
    const { lines } = await byServer([...talk, notice('notifications/cancelled', cancelled), last, list]);
    expect(lines).toEqual(await byLibrary(whole));
  },
);

test('a client that repeats itself takes no more memory', () => {
  const opening = new Opening(OFFERED);
  const lines = linesOf([hello('2025-06-18'), READY, READY, READY, LIST, LIST, request(1, 'ping')]);
  for (const line of lines) expect(opening.answer(line)).not.toBeNull();
  expect(opening.settled).toHaveLength(2);
});
