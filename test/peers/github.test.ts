import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Octokit } from '@octokit/rest';
import { secondaryLimit } from './github/faults.js';
import { type GithubPeer, startGithubPeer } from './github/githubPeer.js';

const REPO = { owner: 'harbour', repo: 'popoto' };

let folder: string;
let peer: GithubPeer;
let octokit: Octokit;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'github-peer-'));
  peer = await startGithubPeer({ repository: 'harbour/popoto', logFile: join(folder, 'writes.jsonl') });
  octokit = client(peer.token);
});

afterEach(async () => {
  await peer.stop();
  rmSync(folder, { recursive: true });
});

function client(auth?: string): Octokit {
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  return new Octokit({ baseUrl: peer.url, log: silent, ...(auth !== undefined && { auth }) });
}

function createIssue(title: string) {
  return octokit.rest.issues.create({ ...REPO, title, body: `about ${title}`, labels: ['watchdog'] });
}

describe('issues', () => {
  test('the writes of the product are visible at GitHub and in the log', async () => {
    const { data } = await createIssue('[Watchdog] popoto: silence');
    await octokit.rest.issues.createComment({ ...REPO, issue_number: data.number, body: 'again' });
    await octokit.rest.issues.update({ ...REPO, issue_number: data.number, body: 'joined' });
    expect(data.html_url).toBe(`${peer.url}/harbour/popoto/issues/${data.number}`);
    expect(peer.issues()).toEqual([
      {
        number: data.number,
        url: data.html_url,
        title: '[Watchdog] popoto: silence',
        body: 'joined',
        labels: ['watchdog'],
        state: 'open',
        stateReason: null,
        author: 'watchkeeper-bot',
        comments: [{ author: 'watchkeeper-bot', body: 'again' }],
      },
    ]);
    const lines = readFileSync(join(folder, 'writes.jsonl'), 'utf8').trimEnd().split('\n');
    expect(lines.map((line) => JSON.parse(line))).toEqual(peer.writes);
    expect(peer.writes.map(({ method, status }) => [method, status])).toEqual([
      ['POST', 201],
      ['POST', 201],
      ['PATCH', 200],
    ]);
    expect(peer.writes[1]?.body).toEqual({ body: 'again' });
  });

  test('are listed by label in every state, over several pages', async () => {
    const first = (await createIssue('one')).data.number;
    const second = (await createIssue('two')).data.number;
    await createIssue('three');
    await peer.openIssue({ title: 'a person asks', labels: ['question'] });
    await peer.closeIssue(first, 'not_planned');
    await peer.closeIssue(second, 'completed');
    const listed = await octokit.paginate(octokit.rest.issues.listForRepo, {
      ...REPO,
      labels: 'watchdog',
      state: 'all',
      per_page: 2,
    });
    const found = listed.map(({ title, state, state_reason }) => [title, state, state_reason ?? null]);
    expect(found.sort()).toEqual([
      ['one', 'closed', 'not_planned'],
      ['three', 'open', null],
      ['two', 'closed', 'completed'],
    ]);
    expect(peer.requests.filter(({ method }) => method === 'GET')).toHaveLength(2);
  });

  test('closed by a person are reopened by the product', async () => {
    const { number } = (await createIssue('one')).data;
    await peer.closeIssue(number, 'completed');
    expect(peer.issues()[0]).toMatchObject({ state: 'closed', stateReason: 'completed' });
    await octokit.rest.issues.update({ ...REPO, issue_number: number, state: 'open', state_reason: 'reopened' });
    expect(peer.issues()[0]).toMatchObject({ state: 'open', stateReason: 'reopened' });
    // What people do is not the product's write.
    expect(peer.writes.map(({ method }) => method)).toEqual(['POST', 'PATCH']);
  });

  test('visibility is shown, and a private repository only to those who may see it', async () => {
    expect((await octokit.rest.repos.get(REPO)).data.private).toBe(false);
    await peer.setPrivate(true);
    expect((await octokit.rest.repos.get(REPO)).data).toMatchObject({ private: true, visibility: 'private' });
    await expect(client().rest.repos.get(REPO)).rejects.toMatchObject({ status: 404 });
  });

  test('a wrong token and an overlong body are refused, as on GitHub, unlike emulate', async () => {
    await expect(client('ghp_wrong').rest.repos.get(REPO)).rejects.toMatchObject({ status: 401 });
    const body = 'x'.repeat(65_537);
    await expect(octokit.rest.issues.create({ ...REPO, title: 'long', body })).rejects.toMatchObject({ status: 422 });
    await octokit.rest.issues.create({ ...REPO, title: 'longest', body: body.slice(1) });
    expect(peer.issues()).toHaveLength(1);
  });
});

describe('faults', () => {
  test('a lost answer: the client gets nothing, the issue exists once', async () => {
    peer.inject({ kind: 'lost_answer', method: 'POST', path: /\/issues$/ });
    const seen = peer.waitFor(() => peer.issues()[0]);
    await expect(createIssue('precious')).rejects.toMatchObject({ status: 500, message: expect.stringMatching(/./) });
    expect((await seen).title).toBe('precious');
    expect(peer.issues()).toHaveLength(1);
    expect(peer.writes).toMatchObject([{ status: 201, fault: 'lost_answer' }]);
  });

  test('refusals of every kind change nothing and are counted', async () => {
    const gateway = peer.inject({
      kind: 'status',
      status: 502,
      body: '<html>Bad Gateway</html>',
      method: 'POST',
      times: 2,
    });
    await octokit.rest.issues.listForRepo(REPO);
    for (let round = 0; round < 2; round += 1) {
      await expect(createIssue('x')).rejects.toMatchObject({ status: 502 });
    }
    expect([gateway.used, gateway.left]).toEqual([2, 0]);
    peer.inject({ ...secondaryLimit(60), path: /\/issues/ });
    await expect(createIssue('x')).rejects.toMatchObject({
      status: 403,
      response: { headers: { 'retry-after': '60' } },
      message: expect.stringContaining('secondary rate limit'),
    });
    for (const status of [404, 410, 422]) {
      peer.inject({ kind: 'status', status });
      await expect(createIssue('x')).rejects.toMatchObject({ status });
    }
    expect(peer.issues()).toEqual([]);
    expect((await createIssue('x')).status).toBe(201);
  });

  test('a reset and a hang change nothing', async () => {
    peer.inject({ kind: 'reset', method: 'POST' });
    await expect(createIssue('x')).rejects.toMatchObject({ status: 500 });
    peer.inject({ kind: 'hang', method: 'POST' });
    const impatient = octokit.rest.issues.create({
      ...REPO,
      title: 'x',
      request: { signal: AbortSignal.timeout(200) },
    });
    await expect(impatient).rejects.toThrow();
    expect(peer.issues()).toEqual([]);
    expect(peer.writes.map(({ fault, status }) => [fault, status])).toEqual([
      ['reset', null],
      ['hang', null],
    ]);
  });
});

test('a timed-out wait explains itself, and the state is saved whole', async () => {
  await createIssue('one');
  await expect(peer.waitFor(() => peer.issues()[1], 20)).rejects.toThrow('"title":"one"');
  const file = join(folder, 'state', 'github.json');
  peer.saveState(file);
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(peer.state());
  expect(peer.state()).toMatchObject({ repository: 'harbour/popoto', issues: [{ title: 'one' }], writes: [{}] });
});
