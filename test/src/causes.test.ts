import { once } from 'node:events';
import { Agent } from 'node:http';
import { connect, createServer, type LookupFunction } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { Api, HttpError } from 'grammy';
import { noAnswer } from '../../bridge/telegram/chatError.js';
import { asSinkError } from '../../monitoring/incident/issue/githubRepository.js';
import { describeError, rootCauses, wasNeverConnected, wordsOf } from '../../src/errors.js';
import { isConnectionLost, isStoreTrouble } from '../../src/storeTrouble.js';

/** A host with an address of each family, as the APIs of Telegram and GitHub have. */
const onBothFamilies = ((_host, _options, callback) => {
  callback(null, [
    { address: '127.0.0.1', family: 4 },
    { address: '127.0.0.2', family: 4 },
  ]);
}) as LookupFunction;

async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
}

async function refusedOnBoth(): Promise<Error> {
  const socket = connect({
    host: 'dual.test',
    port: await closedPort(),
    lookup: onBothFamilies,
    autoSelectFamily: true,
  });
  const [error] = await once(socket, 'error').catch((thrown: unknown) => [thrown]);
  return error as Error;
}

const coded = (message: string, fields: object) => Object.assign(new Error(message), fields);
const unreachable = (address: string) =>
  coded(`connect ENETUNREACH ${address}`, { code: 'ENETUNREACH', syscall: 'connect' });
/** As Node makes it: its code is that of its first error. */
const aggregate = (...errors: Error[]) =>
  Object.assign(new AggregateError(errors, ''), { code: (errors[0] as { code?: string })?.code });

describe('a connection that failed on each address of a host', () => {
  // rule: causes-are-read-in-one-place
  test('has words, and was never made, whatever has wrapped it', async () => {
    const real = await refusedOnBoth();
    expect(real.name).toBe('AggregateError');
    expect(real.message).toBe('');
    for (const error of [
      real,
      new TypeError('fetch failed', { cause: real }),
      aggregate(unreachable('::9'), unreachable('198.51.100.9')),
    ]) {
      expect(wasNeverConnected(error)).toBe(true);
      expect(describeError(error)).toMatch(/connect E\w+ \S+; connect E\w+ \S+/);
      expect(rootCauses(error)).toHaveLength(2);
    }
    expect(isStoreTrouble(aggregate(unreachable('::9')))).toBe(true);
    expect(isConnectionLost(aggregate(unreachable('::9')))).toBe(true);
  });

  // rule: causes-are-read-in-one-place
  test('is no unknown outcome at Telegram, whose library keeps only its code', async () => {
    const port = await closedPort();
    const agent = new Agent({ lookup: onBothFamilies, autoSelectFamily: true } as object);
    const api = new Api('7:token', { apiRoot: `http://dual.test:${port}`, baseFetchConfig: { agent } as object });
    const thrown = await api.getMe().catch((error: unknown) => error);
    expect(thrown).toBeInstanceOf(HttpError);
    const error = noAnswer('sendMessage', thrown, '7:token');
    expect(error.kind).toBe('not_reached');
    expect(error.message).toContain('ECONNREFUSED');
  });

  test.each(['ENETUNREACH', 'EHOSTUNREACH', 'ETIMEDOUT'])(
    '%s without words is one at Telegram, with words of a read it is none',
    (code) => {
      const cut = (reason: string) =>
        new HttpError(
          'x',
          coded(`request to https://api.telegram.org failed, reason: ${reason}`, { code, type: 'system' }),
        );
      expect(noAnswer('sendMessage', cut(''), '7:token')).toMatchObject({
        kind: 'not_reached',
        description: `request to https://api.telegram.org failed, reason: ${code}`,
      });
      expect(noAnswer('sendMessage', cut(`connect ${code} 1.2.3.4:443`), '7:token').kind).toBe('not_reached');
      expect(noAnswer('sendMessage', cut(`read ${code}`), '7:token').kind).toBe('unknown');
      expect(noAnswer('sendMessage', cut('socket hang up'), '7:token').kind).toBe('unknown');
    },
  );

  test('is no ambiguous create at GitHub, unless one of the addresses was reached', () => {
    const create = (cause: Error) => asSinkError(new TypeError('fetch failed', { cause }), 'once', 'acme/site', 0).kind;
    expect(
      create(
        aggregate(
          unreachable('::9'),
          coded('connect ETIMEDOUT 1.2.3.4:443', { code: 'ETIMEDOUT', syscall: 'connect' }),
        ),
      ),
    ).toBe('not_reached');
    expect(
      create(aggregate(unreachable('::9'), coded('read ECONNRESET', { code: 'ECONNRESET', syscall: 'read' }))),
    ).toBe('ambiguous');
    expect(create(coded('other side closed', { code: 'UND_ERR_SOCKET' }))).toBe('ambiguous');
  });
});

describe('the words of an error', () => {
  test('are its own, or its causes’ where it has none or they break off', () => {
    expect(wordsOf(new Error('plain'))).toBe('plain');
    expect(wordsOf(coded('', { code: 'EPIPE' }))).toBe('EPIPE');
    expect(wordsOf(new RangeError(''))).toBe('RangeError');
    expect(wordsOf(coded('failed, reason: ', { code: 'EAI_AGAIN' }))).toBe('failed, reason: EAI_AGAIN');
    expect(wordsOf(aggregate())).toBe('AggregateError');
  });

  test('end in a circle of causes, too', () => {
    const one = new Error('');
    const other = new Error('', { cause: one });
    one.cause = other;
    expect(wordsOf(one)).toBe('Error');
    expect(wasNeverConnected(one)).toBe(false);
  });
});
