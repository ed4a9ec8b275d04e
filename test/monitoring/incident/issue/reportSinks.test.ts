import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { GitHubIssues } from '../../../../monitoring/incident/issue/githubIssues.js';
import { SinkError } from '../../../../monitoring/incident/issue/issueSink.js';
import { LocalIssues } from '../../../../monitoring/incident/issue/localIssues.js';
import { systemClock } from '../../../../src/time.js';
import { issueSinkContract } from '../../../contracts/issueSink.js';
import { ManualClock } from '../../../harness/clock.js';
import { testFolder } from '../../../harness/folder.js';
import { afterThisTest } from '../../../harness/scope.js';
import { secondaryLimit } from '../../../peers/github/faults.js';
import { type GithubPeer, startGithubPeer } from '../../../peers/github/githubPeer.js';
import { GOING, REPOSITORY } from './reportScene.js';

async function startPeer(): Promise<GithubPeer> {
  const peer = await startGithubPeer({ repository: REPOSITORY });
  afterThisTest(() => peer.stop());
  return peer;
}

function sinkOf(peer: GithubPeer, token = peer.token, clock = systemClock, stopping = GOING): GitHubIssues {
  return new GitHubIssues({ apiUrl: peer.url, token, repository: REPOSITORY }, clock, stopping);
}

async function failure(promise: Promise<unknown>): Promise<SinkError> {
  const error = await promise.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SinkError);
  return error as SinkError;
}

issueSinkContract('GitHub', async () => {
  const peer = await startPeer();
  return {
    sink: sinkOf(peer),
    async see(number) {
      const issue = peer.issues().find((one) => one.number === number);
      if (!issue) throw new Error(`no issue ${number}`);
      const { title, body, labels } = issue;
      return { title, body, labels, comments: issue.comments.map((comment) => comment.body) };
    },
    close: (number, reason) => peer.closeIssue(number, reason),
    fileForeign: async () => void (await peer.openIssue({ title: 'a person asks', labels: ['question'] })),
  };
});

issueSinkContract('A folder', async () => {
  const folder = join(testFolder(), 'logs', 'issues');
  const sink = new LocalIssues(folder, systemClock);
  const read = (number: number) => readFileSync(join(folder, `${number}.md`), 'utf8');
  const split = (number: number) => /^---\n(.*?)\n---\n(.*)\n$/s.exec(read(number));
  return {
    sink,
    async see(number) {
      const [, head = '', body = ''] = split(number) ?? [];
      const file = join(folder, `${number}.comments.md`);
      const comments = existsSync(file)
        ? readFileSync(file, 'utf8')
            .split(/^## .*\n\n/m)
            .slice(1)
        : [];
      const { title, labels } = JSON.parse(head);
      return { title, body, labels, comments: comments.map((comment) => comment.trim()) };
    },
    async close(number, reason) {
      const text = read(number);
      const closed = text.replace('"state": "open"', '"state": "closed"');
      writeFileSync(
        join(folder, `${number}.md`),
        closed.replace('"state_reason": null', `"state_reason": "${reason}"`),
      );
    },
    async fileForeign() {
      mkdirSync(folder, { recursive: true });
      writeFileSync(join(folder, '7.md'), '---\n{"title":"mine","labels":["question"]}\n---\nmine\n');
      writeFileSync(join(folder, 'notes.txt'), 'mine');
    },
  };
});

describe('GitHub', () => {
  test('shows whether everybody can read the repository', async () => {
    const peer = await startPeer();
    expect(await sinkOf(peer).visibility()).toBe('public');
    await peer.setPrivate(true);
    expect(await sinkOf(peer).visibility()).toBe('private');
  });

  test.each([
    ['a gateway that fails', { kind: 'status', status: 502, body: '<html>Bad Gateway</html>' } as const],
    ['a connection that breaks', { kind: 'reset' } as const],
    ['a lost answer', { kind: 'lost_answer' } as const],
  ])('%s leaves a create ambiguous, and everything else repeatable', async (_name, fault) => {
    const peer = await startPeer();
    const sink = sinkOf(peer);
    const { number } = await sink.create('first', 'body');
    peer.inject({ ...fault, method: 'POST', path: /\/issues$/ });
    expect(await failure(sink.create('second', 'body'))).toMatchObject({ kind: 'ambiguous', retryable: true });
    peer.inject({ ...fault, method: 'PATCH' });
    expect((await failure(sink.update(number, 'new'))).kind).toBe('not_reached');
    peer.inject({ ...fault, method: 'GET' });
    // Another one, because the first pauses after that.
    expect((await failure(sinkOf(peer).list())).kind).toBe('not_reached');
    expect(peer.writes.filter(({ method, path }) => method === 'POST' && path.endsWith('/issues'))).toHaveLength(2);
  });

  test('a request that hangs ends after 10 seconds, or when the process stops', async () => {
    const peer = await startPeer();
    const clock = new ManualClock();
    const sink = sinkOf(peer, peer.token, clock);
    await sink.create('first', 'body');
    const hang = peer.inject({ kind: 'hang', method: 'POST', path: /\/issues$/, times: 2 });
    const late = failure(sink.create('second', 'body'));
    await peer.waitFor(() => hang.used === 1);
    await clock.advance(9_999);
    expect(clock.waiting).toBe(1);
    await clock.advance(1);
    expect(await late).toMatchObject({ kind: 'ambiguous', message: expect.stringContaining('no answer within 10 s') });
    const stop = new AbortController();
    const stopping = sinkOf(peer, peer.token, clock, stop.signal);
    const stopped = failure(stopping.create('third', 'body'));
    await peer.waitFor(() => hang.used === 2);
    stop.abort();
    expect((await stopped).kind).toBe('ambiguous');
    expect((await failure(stopping.create('fourth', 'body'))).kind).toBe('not_reached');
    expect(clock.waiting).toBe(0);
  });

  test('rate limits include how long they last', async () => {
    const peer = await startPeer();
    const clock = new ManualClock();
    // A new one each time, because each pauses after its limit.
    const sink = () => sinkOf(peer, peer.token, clock);
    peer.inject({ ...secondaryLimit(90), method: 'POST', path: /\/issues$/ });
    expect(await failure(sink().create('x', 'body'))).toMatchObject({
      kind: 'limited',
      retryAfterMs: 90_000,
      status: 403,
    });
    const reset = String(clock.now() / 1_000 + 600);
    const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset };
    peer.inject({ kind: 'status', status: 403, headers, method: 'GET' });
    expect(await failure(sink().list())).toMatchObject({ kind: 'limited', retryAfterMs: 600_000 });
    peer.inject({ kind: 'status', status: 429, method: 'GET' });
    expect(await failure(sink().list())).toMatchObject({ kind: 'limited', retryAfterMs: null });
    peer.inject({ kind: 'status', status: 403, method: 'GET' });
    expect(await failure(sink().list())).toMatchObject({ kind: 'refused' });
    expect(peer.issues()).toEqual([]);
  });

  test('a wrong token is refused with what to check, and is not shown', async () => {
    const peer = await startPeer();
    const token = `ghp_${'wrong'.repeat(8)}`;
    const error = await failure(sinkOf(peer, token).list());
    expect(error).toMatchObject({ kind: 'refused', status: 401, message: expect.stringContaining('GITHUB_TOKEN') });
    expect(error.message).not.toContain(token);
  });

  test('a refused connection counts as not reached, also for a create', async () => {
    const peer = await startPeer();
    const sink = sinkOf(peer);
    await sink.create('first', 'body');
    await peer.stop();
    expect((await failure(sink.create('second', 'body'))).kind).toBe('not_reached');
  });

  test('a list that is cut off, or is not a list, is not mistaken for an empty one', async () => {
    const peer = await startPeer();
    for (const body of ['', '{"message":"maintenance"}', '[{"number":"1"}]', '[{"numb']) {
      peer.inject({
        kind: 'status',
        status: 200,
        headers: { 'content-type': 'application/json' },
        body,
        method: 'GET',
      });
      expect((await failure(sinkOf(peer).list())).kind).toBe('not_reached');
    }
  });

  test('a create whose reply is not an issue is ambiguous', async () => {
    const peer = await startPeer();
    peer.inject({ kind: 'status', status: 201, body: {}, method: 'POST', path: /\/issues$/ });
    expect((await failure(sinkOf(peer).create('x', 'body'))).kind).toBe('ambiguous');
  });

  // rule: an-issue-is-filed-once
  test('a label that cannot be created does not prevent the issue, which is then found without it', async () => {
    const peer = await startPeer();
    peer.inject({ kind: 'status', status: 403, method: 'POST', path: /\/labels$/ });
    peer.inject({ kind: 'status', status: 422, method: 'POST', path: /\/issues$/ });
    const sink = sinkOf(peer);
    const { number } = await sink.create('unlabelled', 'body');
    expect(peer.issues()).toMatchObject([{ number, labels: [] }]);
    expect(await sink.list()).toMatchObject([{ number }]);
  });

  test('the label is created once, and an issue refused for another reason is not tried again', async () => {
    const peer = await startPeer();
    const sink = sinkOf(peer);
    await sink.create('one', 'body');
    await sink.create('two', 'body');
    expect(peer.writes.filter(({ path }) => path.endsWith('/labels'))).toHaveLength(1);
    expect(await failure(sink.create('three', 'x'.repeat(70_000)))).toMatchObject({
      kind: 'refused',
      status: 422,
    });
    expect(peer.writes.filter(({ path }) => path.endsWith('/issues'))).toHaveLength(3);
  });
});

describe('a folder of issues', () => {
  test('two processes never take the same number, and leave nothing half-written', async () => {
    const folder = testFolder();
    const sinks = [new LocalIssues(folder, systemClock), new LocalIssues(folder, systemClock)];
    const created = await Promise.all(
      Array.from({ length: 20 }, (_, index) => sinks[index % 2]?.create(`issue ${index}`, 'body')),
    );
    expect(new Set(created.map((issue) => issue?.number)).size).toBe(20);
    expect(readdirSync(folder).filter((name) => !/^\d+\.md$/.test(name))).toEqual([]);
    expect(readFileSync(fileURLToPath(created[0]?.url ?? ''), 'utf8')).toContain('issue 0');
  });

  test('an unusable folder counts as not reached, and a damaged file is named', async () => {
    const folder = testFolder();
    writeFileSync(join(folder, 'file'), '');
    const blocked = new LocalIssues(join(folder, 'file', 'issues'), systemClock);
    expect(await failure(blocked.create('x', 'body'))).toMatchObject({ kind: 'not_reached' });
    writeFileSync(join(folder, '3.md'), 'no head');
    const error = await failure(new LocalIssues(folder, systemClock).list());
    expect(error).toMatchObject({ kind: 'not_reached', message: expect.stringContaining('3.md') });
  });
});
