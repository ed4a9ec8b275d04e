/** The doctor, against faults that an operator could have made: each is found, named, and ends with what to do. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { CheckResult } from '../../../bridge/doctor/checkResult.js';
import type { BridgeScene } from '../../e2e/bridgeScene.js';
import { RedisServer } from '../../e2e/redisServer.js';
import { REPOSITORY } from '../../e2e/sceneFiles.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from '../../e2e/testScene.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';
import { pathWith } from '../../harness/searchPath.js';
import { killLeftovers, newRunId, startMarked } from '../runs/processes.js';
import { doctorIn } from './inProcess.js';

// covers: bridge/cli/doctor.ts
// covers: bridge/doctor/examine.ts
// covers: bridge/doctor/githubChecks.ts

const GROUP = -5;
const PERSON = 1;
const WRONG_TOKEN = '4711:wrong-token-of-somebody';
const NO_TELEGRAM = { TELEGRAM_BOT_TOKEN: '' };
const NO_GITHUB = { GITHUB_TOKEN: '' };
/** A doctor that finds no agent has none to ask for its plugins. The healthy bridge's finds those of this machine. */
const noAgents = () => ({ PATH: pathWith('git', 'redis-server', 'sh') });

interface Diagnosis {
  readonly code: number | null | undefined;
  /** Real milliseconds. */
  readonly tookMs: number | undefined;
  readonly verdict: string;
  readonly checks: readonly CheckResult[];
  readonly said: string;
}

/** What is broken, in which check it shows, and words of what was found and of the remedy. */
interface PreparedFault {
  readonly fault: string;
  readonly shows: string;
  readonly verdict: 'warning' | 'fault';
  readonly found: RegExp;
  readonly remedy: RegExp;
  /** @returns the variables that lead the doctor to it */
  prepare(scene: BridgeScene): Promise<Readonly<Record<string, string>>> | Readonly<Record<string, string>>;
}

const FAULTS: readonly PreparedFault[] = [
  {
    fault: 'a Redis that drops keys when memory gets short',
    shows: 'redis eviction',
    verdict: 'fault',
    found: /allkeys-lru/,
    remedy: /maxmemory-policy noeviction/,
    prepare: (scene) => redisWith(scene, 'lru', ['--appendonly', 'yes', '--maxmemory-policy', 'allkeys-lru']),
  },
  {
    fault: 'a Redis without the append-only file',
    shows: 'redis persistence',
    verdict: 'fault',
    found: /append-only file is off/,
    remedy: /appendonly yes/,
    prepare: (scene) => redisWith(scene, 'rdb', ['--appendonly', 'no', '--maxmemory-policy', 'noeviction']),
  },
  {
    fault: 'a Redis without free memory',
    shows: 'queue',
    verdict: 'fault',
    found: /OOM/,
    remedy: /memory/,
    prepare: (scene) => redisWith(scene, 'oom', ['--appendonly', 'yes', '--maxmemory', '100kb']),
  },
  {
    fault: 'a Redis that copies another one and takes no writes',
    shows: 'redis role',
    verdict: 'fault',
    found: /a replica/,
    remedy: /address of the primary/,
    prepare: (scene) => redisWith(scene, 'replica', ['--appendonly', 'yes', '--replicaof', '127.0.0.1 1']),
  },
  {
    fault: 'messages that wait for a host that no bridge serves',
    shows: 'bridge',
    verdict: 'fault',
    found: /"elsewhere"; waiting: 1 message/,
    remedy: /watchkeeper bridge.*WATCHKEEPER_HOST/,
    async prepare(scene) {
      const environment = { WATCHKEEPER_HOST: 'elsewhere', WATCHKEEPER_CONFIG: config(scene, {}) };
      await scene.run(['enqueue', '--project', 'yard', '--text', 'anybody?'], environment);
      return { ...environment, ...NO_TELEGRAM };
    },
  },
  {
    fault: 'a directory held by a run that could not be ended',
    shows: 'lanes',
    verdict: 'fault',
    found: /nothing starts in yard-host:\/srv\/yard \(left: \d+\): a run there could not be ended for certain/,
    remedy: /end the processes/,
    async prepare(scene) {
      const runId = newRunId();
      await startMarked(runId, 'echo up; exec sleep 60');
      afterThisTest(killLeftovers);
      const lane = 'yard-host:/srv/yard';
      const blocked = { lane, run_id: runId, run: null, session_id: null, project_key: null, since: 0, is_told: true };
      const redis = await serverWith(scene, 'blocked', []);
      await redis.ask('HSET', scene.store.keys.blockedLanes, lane, JSON.stringify(blocked));
      return { ...strangerTo(redis), WATCHKEEPER_HOST: 'yard-host' };
    },
  },
  {
    fault: 'a bot token that Telegram does not know',
    shows: 'telegram token',
    verdict: 'fault',
    found: /refuses the bot token \(401/,
    remedy: /@BotFather.*TELEGRAM_BOT_TOKEN/,
    prepare: () => ({ TELEGRAM_BOT_TOKEN: WRONG_TOKEN }),
  },
  {
    fault: 'an address at which there is no Telegram',
    shows: 'telegram token',
    verdict: 'fault',
    found: /does not answer correctly/,
    remedy: /TELEGRAM_API_ROOT/,
    prepare: () => ({ TELEGRAM_API_ROOT: 'http://127.0.0.1:1' }),
  },
  {
    fault: 'group privacy mode',
    shows: 'telegram group privacy',
    verdict: 'warning',
    found: /-5 the bot receives only commands and replies: \/ask arrives there, and a mention never does/,
    remedy: /setprivacy.*Disable.*add it again/,
    prepare({ telegram }) {
      telegram.setPrivacyMode(true);
      afterThisTest(() => telegram.setPrivacyMode(false));
      return {};
    },
  },
  {
    fault: 'a webhook',
    shows: 'telegram poller',
    verdict: 'fault',
    found: /webhook sends the bot's messages to elsewhere\.example,/,
    remedy: /deleteWebhook/,
    prepare({ telegram }) {
      telegram.setWebhook('https://elsewhere.example/hook?key=hunter2');
      afterThisTest(() => telegram.setWebhook(null));
      return {};
    },
  },
  {
    // With another Redis the bridge of the scene is a stranger to the doctor.
    fault: "another program that fetches the bot's messages",
    shows: 'telegram poller',
    verdict: 'fault',
    found: /409 Conflict/,
    remedy: /stop the other program/,
    prepare: async (scene) => ({
      ...(await redisWith(scene, 'own', [])),
      TELEGRAM_BOT_TOKEN: scene.telegram.token,
    }),
  },
  {
    fault: 'a group that the bot is not in',
    shows: 'telegram chat -404',
    verdict: 'fault',
    found: /chat not found/,
    remedy: /add the bot to the group/,
    prepare: (scene) => ({ WATCHKEEPER_CONFIG: config(scene, { chats: [GROUP, -404] }) }),
  },
  {
    fault: 'a GitHub token that is not valid',
    shows: `github ${REPOSITORY}`,
    verdict: 'fault',
    found: /refuses the token/,
    remedy: /GITHUB_TOKEN/,
    prepare: () => ({ GITHUB_TOKEN: 'ghp_somebodyElsesTokenOrNone00000000000' }),
  },
  {
    fault: 'a repository that does not exist',
    shows: 'github example/nowhere',
    verdict: 'fault',
    found: /the repository does not exist/,
    remedy: /correct `repository`/,
    prepare: (scene) => ({ WATCHKEEPER_CONFIG: config(scene, { repository: 'example/nowhere' }) }),
  },
  {
    fault: 'a repository that was renamed',
    shows: 'github example/former',
    verdict: 'warning',
    found: new RegExp(`was renamed to ${REPOSITORY}`),
    remedy: /into `repository`/,
    prepare(scene) {
      scene.github.redirectFrom('example/former');
      return { WATCHKEEPER_CONFIG: config(scene, { repository: 'example/former' }) };
    },
  },
  {
    fault: 'a repository without issues',
    shows: `github ${REPOSITORY}`,
    verdict: 'fault',
    found: /are disabled/,
    remedy: /Settings, Features, Issues/,
    prepare: (scene) => repositoryLike(scene, { has_issues: false }),
  },
  {
    fault: 'an archived repository',
    shows: `github ${REPOSITORY}`,
    verdict: 'fault',
    found: /archived: no issue can be filed/,
    remedy: /unarchive it/,
    prepare: (scene) => repositoryLike(scene, { archived: true }),
  },
  {
    fault: 'an address at which there is no GitHub',
    shows: `github ${REPOSITORY}`,
    verdict: 'fault',
    found: /GitHub did not answer for/,
    remedy: /GITHUB_API_URL/,
    prepare: () => ({ GITHUB_API_URL: 'http://127.0.0.1:1' }),
  },
  {
    fault: 'a token that may not write issues',
    shows: `github ${REPOSITORY} issues`,
    verdict: 'fault',
    found: /may not write issues \(403\)/,
    remedy: /Issues: read and write/,
    prepare({ github }) {
      const refusal = { kind: 'status', status: 403, body: { message: 'Resource not accessible' } } as const;
      github.inject({ ...refusal, method: 'POST', path: /\/issues$/ });
      return {};
    },
  },
  {
    fault: 'a role that may not set labels',
    shows: `github ${REPOSITORY} label`,
    verdict: 'warning',
    found: /filed without/,
    remedy: /triage or write/,
    prepare: (scene) => repositoryLike(scene, { permissions: { pull: true, triage: false, push: false } }),
  },
  {
    fault: 'a public repository that shows everything',
    shows: `github ${REPOSITORY} visibility`,
    verdict: 'warning',
    found: /public, and yard shows everyone/,
    remedy: /names_only/,
    async prepare(scene) {
      await scene.github.setPrivate(false);
      afterThisTest(() => scene.github.setPrivate(true));
      return { WATCHKEEPER_CONFIG: config(scene, { publicDetail: 'full' }) };
    },
  },
  {
    fault: 'an agent that cannot start',
    shows: 'agent of yard',
    verdict: 'fault',
    found: /cannot be read: ENOENT/,
    remedy: /agent\.scenario/,
    prepare: (scene) => ({
      WATCHKEEPER_CONFIG: config(scene, { agent: { kind: 'scripted', scenario: 'gone.json' } }),
    }),
  },
  {
    fault: 'an agent that does not exist',
    shows: 'configuration',
    verdict: 'fault',
    found: /no agent "scriptd".*did you mean "scripted"/,
    remedy: /correct the configuration/,
    prepare: (scene) => ({ WATCHKEEPER_CONFIG: config(scene, { agent: { kind: 'scriptd' } }) }),
  },
  {
    fault: 'an empty list of senders',
    shows: 'allow-list of yard',
    verdict: 'fault',
    found: /so nobody is allowed/,
    remedy: /add `senders`/,
    prepare: (scene) => ({ WATCHKEEPER_CONFIG: config(scene, { senders: [] }) }),
  },
  {
    fault: 'a project without a chat',
    shows: 'allow-list of yard',
    verdict: 'warning',
    found: /gets nothing from Telegram/,
    remedy: /add `chats`/,
    prepare: (scene) => ({ WATCHKEEPER_CONFIG: config(scene, { chats: [] }) }),
  },
  {
    fault: 'a project directory that is not a git checkout',
    shows: 'directory of yard',
    verdict: 'warning',
    found: /scenarios is not a git checkout/,
    remedy: /git init/,
    prepare: (scene) => ({ WATCHKEEPER_CONFIG: config(scene, { directory: 'scenarios' }) }),
  },
  {
    fault: 'an invalid logs folder',
    shows: 'logs folder',
    verdict: 'fault',
    found: /cannot be written by user \d+ \(ENOTDIR\)/,
    remedy: /WATCHKEEPER_LOGS/,
    prepare: (scene) => ({ WATCHKEEPER_LOGS: join(scene.folder, 'watchkeeper.config.json', 'logs') }),
  },
];

describeScenes('the doctor', () => {
  let scene: BridgeScene;

  beforeAll(async () => {
    // Not this user's home, in which agents may have the plugin.
    const environment = { HOME: testFolder() };
    scene = await openTestScene({ projects: { yard: { chats: [{ id: GROUP }] } }, environment });
    scene.telegram.openChat(GROUP);
    await scene.github.setPrivate(true);
    execFileSync('git', ['init', '--quiet', join(scene.folder, 'work', 'yard')]);
    await scene.startBridge();
  }, SCENE_TIMEOUT_MS);

  test(
    'reports nothing for a healthy bridge, and leaves its poll and its Redis unchanged',
    async () => {
      const keysBefore = await scene.store.redis.dbsize();
      const { code, verdict, checks } = await diagnose(scene, ['doctor', '--json']);
      expect(checks.filter((check) => check.verdict !== 'ok')).toEqual([]);
      expect({ code, verdict }).toEqual({ code: 0, verdict: 'ok' });
      expect(scene.telegram.calls.filter(({ outcome }) => outcome.startsWith('409'))).toEqual([]);
      expect(scene.github.issues()).toEqual([]);
      expect(await scene.store.redis.dbsize()).toBe(keysBefore);
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'does not contact Telegram or GitHub with --quick',
    async () => {
      const [polls, asked] = [scene.telegram.calls.length, scene.github.requests.length];
      const { code, checks } = await diagnose(scene, ['doctor', '--quick', '--json']);
      expect(code).toBe(0);
      expect(checks.find(({ name }) => name === 'bridge')).toMatchObject({ verdict: 'ok' });
      const since = scene.telegram.calls.slice(polls).map(({ method }) => method);
      expect(since.filter((method) => method !== 'getUpdates')).toEqual([]);
      expect(scene.github.requests.length).toBe(asked);
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'names the token of the bridge that was revoked while it ran, with --quick too, and a critical event says so once',
    async () => {
      const environment = { HOME: testFolder() };
      const revoked = await openTestScene({ projects: { yard: { chats: [{ id: GROUP }] } }, environment });
      await revoked.startBridge();
      revoked.telegram.inject({ kind: 'unauthorized', method: 'getUpdates', times: Number.POSITIVE_INFINITY });
      // The poll that was under way ends.
      revoked.telegram.say(GROUP, 'anybody?');
      const refused = () => revoked.evidence.criticalEvents().filter(({ event }) => event === 'bot_refused');
      await revoked.until('the event', () => refused().length > 0);
      for (const args of [
        ['doctor', '--quick', '--json'],
        ['doctor', '--json'],
      ]) {
        const poller = await revoked.until('the word of the bridge', async () => {
          const { checks } = await diagnose(revoked, args, noAgents());
          return checks.find(({ name, verdict }) => name === 'telegram poller' && verdict === 'fault');
        });
        expect(poller.found).toMatch(/Telegram refuses the bot token of our bridge \(process \d+ on .*\)/);
        expect(poller.remedy).toMatch(/TELEGRAM_BOT_TOKEN/);
      }
      expect(refused()).toMatchObject([{ final: false, reason: 'bot_token_refused' }]);
    },
    SCENE_TIMEOUT_MS,
  );

  // Before the faults: the bridge says for a while that another program fetched its messages.
  test(
    'a person reads one line per check, and what to do below each complaint',
    async () => {
      const { stdout } = await scene.run(['doctor', '--quick'], { WATCHKEEPER_CONFIG: config(scene, { senders: [] }) });
      expect(stdout).toMatch(/^ok {7}redis: redis \d/m);
      expect(stdout).toMatch(/^FAULT {4}allow-list of yard: .+nobody is allowed\n {9}→ add `senders`/m);
      expect(stdout).toMatch(/\n1 fault, 0 warnings\n$/);
    },
    SCENE_TIMEOUT_MS,
  );

  describe('a prepared fault', () => {
    // rule: the-doctor-names-each-fault
    test.each(FAULTS)(
      '$fault is found and named, with what to do',
      async ({ shows, verdict, found, remedy, prepare }) => {
        const diagnosis = await diagnoseHere(scene, { ...noAgents(), ...(await prepare(scene)) });
        const check = diagnosis.checks.find(({ name }) => name === shows);
        expect(check).toEqual({
          name: shows,
          verdict,
          found: expect.stringMatching(found),
          remedy: expect.stringMatching(remedy),
        });
        // Without a configuration nothing else can be looked at.
        if (verdict === 'fault') expect(diagnosis.code).toBe(shows === 'configuration' ? 2 : 1);
        for (const each of diagnosis.checks) {
          const isComplaint = each.verdict === 'warning' || each.verdict === 'fault';
          expect([each.name, isComplaint]).toEqual([each.name, each.remedy !== null]);
        }
        for (const secret of [scene.telegram.token, scene.github.token, WRONG_TOKEN, 'hunter2']) {
          expect(diagnosis.said).not.toContain(secret);
        }
      },
      SCENE_TIMEOUT_MS,
    );
  });

  test(
    'an unreachable Redis is exit code 3, and everything else is still checked',
    async () => {
      const environment = { REDIS_URL: 'redis://user:hunter2@127.0.0.1:1/0' };
      for (const args of [
        ['doctor', '--json'],
        ['doctor', '--quick', '--json'],
      ]) {
        const { code, checks, said } = await diagnose(scene, args, { ...noAgents(), ...environment });
        expect(code).toBe(3);
        expect(checks.find(({ name }) => name === 'redis')).toMatchObject({
          verdict: 'fault',
          found: expect.stringContaining('127.0.0.1:1'),
          remedy: expect.stringContaining('REDIS_URL'),
        });
        expect(checks.map(({ name }) => name)).toEqual(expect.arrayContaining(['agent of yard', 'directory of yard']));
        expect(said).not.toContain('hunter2');
      }
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'a Redis that accepts connections but answers nothing does not delay a quick check',
    async () => {
      const silent = createServer().listen(0, '127.0.0.1');
      await once(silent, 'listening');
      const sockets: Socket[] = [];
      silent.on('connection', (socket) => sockets.push(socket));
      afterThisTest(() => {
        for (const socket of sockets) socket.destroy();
        silent.close();
      });
      const { port } = silent.address() as AddressInfo;
      const { code, checks, tookMs } = await diagnose(scene, ['doctor', '--quick', '--json'], {
        REDIS_URL: `redis://127.0.0.1:${port}`,
      });
      expect(code).toBe(3);
      expect(checks[0]?.found).toContain('no answer within 2 s');
      // A command's own limit is 10 s; the rest is for a busy machine.
      expect(tookMs).toBeLessThan(8_000);
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'an invalid configuration is exit code 2, with all its faults',
    async () => {
      const environment = { WATCHKEEPER_CONFIG: config(scene, { directory: '' }), AGENT_CONCURRENCY: 'many' };
      const { code, checks } = await diagnose(scene, ['doctor', '--json'], environment);
      expect(code).toBe(2);
      expect(checks).toEqual([expect.objectContaining({ name: 'configuration', verdict: 'fault' })]);
      expect(checks[0]?.found).toMatch(/directory: must be the path of a directory(?:.|\n)*AGENT_CONCURRENCY/);
    },
    SCENE_TIMEOUT_MS,
  );

  test(
    'a fault of a project directory is also logged at the start',
    async () => {
      const started = scene.start(['bridge'], {
        ...NO_TELEGRAM,
        ...NO_GITHUB,
        WATCHKEEPER_HOST: 'starting',
        WATCHKEEPER_LOGS: join(scene.folder, 'logs-start'),
        WATCHKEEPER_CONFIG: config(scene, { directory: 'scenarios' }),
      });
      await scene.until('a bridge that is up', () => started.stderr.includes('the bridge is up'));
      expect(started.stderr).toContain('scenarios is not a git checkout');
      await started.stop();
    },
    SCENE_TIMEOUT_MS,
  );
});

async function diagnose(
  scene: BridgeScene,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<Diagnosis> {
  const { exit, stdout, stderr } = await scene.run(args, environment);
  try {
    const { verdict, checks } = JSON.parse(stdout);
    return { code: exit?.code, tookMs: exit?.tookMs, verdict, checks, said: stdout + stderr };
  } catch {
    throw new Error(`no diagnosis: ${stdout}${stderr}`);
  }
}

/** Without a process of its own: this looks at one fault after the other. */
async function diagnoseHere(scene: BridgeScene, further: Readonly<Record<string, string>>): Promise<Diagnosis> {
  const { code, out, err } = await doctorIn(scene.folder, ['--json'], scene.variables(further));
  return { code, tookMs: undefined, ...JSON.parse(out), said: out + err };
}

async function redisWith(scene: BridgeScene, name: string, settings: readonly string[]) {
  return strangerTo(await serverWith(scene, name, settings));
}

/** With another Redis there is no bridge, and no need to ask Telegram. */
function strangerTo(redis: RedisServer): Readonly<Record<string, string>> {
  return { REDIS_URL: redis.url, ...NO_TELEGRAM, ...NO_GITHUB };
}

/** Another Redis for this test alone. */
async function serverWith(scene: BridgeScene, name: string, settings: readonly string[]): Promise<RedisServer> {
  const redis = new RedisServer(
    join(scene.folder, name),
    { PATH: process.env.PATH ?? '' },
    settings.length === 0 ? undefined : ['--save', '', ...settings],
  );
  await redis.start();
  afterThisTest(() => redis.stop());
  return redis;
}

/** The repository answers once as told; everything else of it stays. */
function repositoryLike({ github }: BridgeScene, answer: object): Readonly<Record<string, string>> {
  const body = { private: true, has_issues: true, permissions: { push: true }, ...answer };
  github.inject({ kind: 'status', status: 200, body, method: 'GET', path: new RegExp(`/repos/${REPOSITORY}$`) });
  return {};
}

/** @returns the name of a configuration that differs from the scene's in some keys of its project */
function config(scene: BridgeScene, project: object): string {
  const name = 'prepared.json';
  const yard = {
    directory: 'work/yard',
    chats: [GROUP],
    senders: [PERSON],
    repository: REPOSITORY,
    agent: { kind: 'scripted' },
    ...project,
  };
  writeFileSync(join(scene.folder, name), JSON.stringify({ projects: { yard } }));
  return name;
}
