/** What the files of the container promise, as far as it can be seen without an engine. */

import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { LifeSign } from '../bridge/health/lifeSign.js';
import { stopWithinMs } from '../bridge/health/orderlyStop.js';
import { readSettings } from '../src/config/readSettings.js';
import { readProcessIdentity } from '../src/host/identity.js';
import { isOwnerAlive, lifeSignFolder, lifeSignPath } from '../src/host/lifeSign.js';
import { packageRoot } from '../src/host/program.js';
import { createLogger } from '../src/log/logger.js';
import { DAY, SECOND, systemClock } from '../src/time.js';
import { firstCells, tableBelow } from './docs/markdown.js';
import { testFolder } from './harness/folder.js';
import { afterThisTest } from './harness/scope.js';

// covers: bridge/health/lifeSign.ts

const ROOT = packageRoot();
const COMPOSE = read('docker-compose.yml');
const DOCKERFILE = read('Dockerfile');
/** Given to agents, not read by the bridge. */
const AGENTS_OWN =
  /^(?:GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL)|(?:ANTHROPIC|OPENAI|GEMINI)_API_KEY|CLAUDE_CODE_OAUTH_TOKEN)$/;
/** Settled by the image, or of no use where Redis is in the same file. */
const SETTLED = [
  'WATCHKEEPER_LOGS',
  'WATCHKEEPER_CONTAINER_DIES_WHOLE',
  'WATCHKEEPER_AGENT_USER',
  'HEALTH_PORT',
  'REDIS_URL',
];

describe('docker-compose.yml', () => {
  const given = [...block(COMPOSE, '  environment: &environment').matchAll(/^ {4}(\w+):/gm)].map(
    ([, name]) => name ?? '',
  );

  // rule: compose-hands-in-what-is-read
  test('passes every variable that is read and not fixed, and no other', () => {
    const readByUs = firstCells(tableBelow(read('docs/configuration.md'), '## Environment variables'));
    const ours = given.filter((name) => !AGENTS_OWN.test(name));
    expect([...ours, ...SETTLED].sort()).toEqual(readByUs.sort());
  });

  // rule: compose-waits-for-an-orderly-stop
  test('gives an orderly stop more time than it may take', async () => {
    const { timings } = await readSettings({ environment: {}, workingDirectory: testFolder() });
    const seconds = Number(/stop_grace_period: (\d+)s/.exec(block(COMPOSE, 'x-watchkeeper'))?.[1]);
    expect(seconds * SECOND).toBeGreaterThan(stopWithinMs(timings) + 10 * SECOND);
  });

  // rule: compose-publishes-health-only
  test('publishes only the health of the bridge, and only to programs of the host', () => {
    expect(COMPOSE.match(/^\s+ports:/gm)).toHaveLength(1);
    expect(block(COMPOSE, '  bridge:')).toMatch(/ports:\n\s+- 127\.0\.0\.1:\$\{HEALTH_PORT:-8787\}:8787\n/);
    expect(DOCKERFILE).toMatch(/^ {2}HEALTH_PORT=8787$/m);
  });

  // rule: compose-builds-one-image
  test('builds the image once, and does not ask a registry for it', () => {
    expect(COMPOSE.match(/^\s+build:/gm)).toHaveLength(1);
    expect(COMPOSE.match(/^\s+image: watchkeeper$/gm)).toHaveLength(1);
    expect(block(COMPOSE, '  bridge:')).toMatch(/build:/);
    expect(block(COMPOSE, '  standby:')).toMatch(/pull_policy: never/);
  });

  test('keeps the data of Redis on its volume, whatever working directory its image has, and evicts nothing', () => {
    const redis = block(COMPOSE, '  redis:');
    expect(redis).toMatch(/redis-server \S+ --dir \/data --appendonly yes/);
    expect(redis).toMatch(/--maxmemory-policy noeviction/);
    expect(redis).toMatch(/- redis:\/data/);
    expect(redis).toMatch(/healthcheck:/);
  });

  test('sets a Redis password, which is stored out of the reach of agents, like the configuration', () => {
    const redis = block(COMPOSE, '  redis:');
    expect(redis).toMatch(/requirepass/);
    expect(redis).not.toMatch(/protected-mode/);
    const common = block(COMPOSE, 'x-watchkeeper');
    expect(common).toMatch(/REDIS_URL_FILE: \/private\/redis\/url/);
    expect(common).toMatch(/:\/private\/config:ro/);
    expect(common).toMatch(/- \/private\/secrets:mode=0700/);
  });

  test('limits every log, fixes the host name, restarts services, and gives agents no root capabilities', () => {
    const common = block(COMPOSE, 'x-watchkeeper');
    expect(common).toMatch(/WATCHKEEPER_HOST: \w+\n/);
    for (const service of [common, block(COMPOSE, '  redis:')]) {
      expect(service).toMatch(/restart: unless-stopped/);
      expect(service).toMatch(/logging: (?:&logging\n\s+driver: json-file|\*logging)/);
    }
    expect(COMPOSE).toMatch(/max-size: \d+m, max-file: "\d+"/);
    expect(common).toMatch(/cap_drop: \[ALL\]/);
    expect(common).toMatch(/cap_add: \[CHOWN, DAC_OVERRIDE, FOWNER, KILL, SETGID, SETPCAP, SETUID\]/);
    expect(common).toMatch(/read_only: true/);
  });

  const withoutValue = [...block(COMPOSE, '      args:').matchAll(/^ {8}(\w+):$/gm)];
  const asked = [...COMPOSE.matchAll(/\$\{(\w+)/g), ...withoutValue]
    .map(([, name]) => name ?? '')
    .filter((name) => name !== 'AGENT_ENV');

  // rule: compose-hands-in-what-is-read
  test('takes from .env what .env.example names, except for the section that it sets itself', () => {
    const [both, settled = ''] = read('.env.example').split('# --- Without compose only');
    const handedIn = [...block(COMPOSE, '  environment: &environment').matchAll(/^ {4}(\w+):(.*)$/gm)];
    const names = handedIn.flatMap(([, name = '', value]) => (value === '' || name === 'AGENT_ENV' ? [name] : []));
    expect([...new Set([...names, ...asked])].sort()).toEqual(namesIn(both ?? '').sort());
    expect(namesIn(settled).filter((name) => names.includes(name) || asked.includes(name))).toEqual([]);
  });

  test('requires nothing that docs/configuration.md does not explain', () => {
    const told = firstCells(tableBelow(read('docs/configuration.md'), '## Variables of the compose file'));
    expect(told.sort()).toEqual([...new Set(asked)].sort());
  });
});

describe('Dockerfile', () => {
  const allowed = [...read('.dockerignore').matchAll(/^!(.+)$/gm)].map(([, path]) => path ?? '');

  test('gets all that a package is made of through .dockerignore, and nothing that is not there', () => {
    const { files } = JSON.parse(read('package.json')) as { files: string[] };
    const { include } = JSON.parse(read('tsconfig.json')) as { include: string[] };
    const sources = [
      'package.json',
      'package-lock.json',
      'tsconfig.json',
      'build.mjs',
      'README.md',
      'LICENSE',
      ...include,
    ];
    const needed = [...files, ...sources].filter((path) => !path.startsWith('dist/'));
    const isAllowed = (path: string) => allowed.some((each) => path === each || path.startsWith(`${each}/`));
    expect(needed.filter((path) => !isAllowed(path))).toEqual([]);
    expect(allowed.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
    for (const secret of [
      '.env',
      'config/telegram-bot-token',
      'watchkeeper.config.json',
      'logs/bridge.log',
      '.git/config',
    ])
      expect([secret, isAllowed(secret)]).toEqual([secret, false]);
    expect(read('.dockerignore')).toMatch(/^\*$/m);
  });

  test('makes a package, and has in the image what is in it, and nothing else of the checkout', () => {
    const [, making = '', image = ''] = DOCKERFILE.split('\nFROM ');
    expect(making).toMatch(/^RUN npm ci --ignore-scripts$/m);
    expect(making).toMatch(/^RUN npm pack .*tar -xzf \S+ -C \/app --strip-components=1$/m);
    expect(image.match(/^COPY .*$/gm)).toEqual(['COPY --from=package /app /app']);
  });

  test('pins the public images by their digests, and takes others by arguments', () => {
    const pinned = /^ARG NODE_IMAGE=node:22-bookworm-slim@sha256:[0-9a-f]{64}$/m;
    expect(DOCKERFILE).toMatch(pinned);
    expect(DOCKERFILE.match(/^FROM (?!\$\{NODE_IMAGE\}).*$/gm)).toBeNull();
    expect(COMPOSE).toMatch(/image: \$\{REDIS_IMAGE:-redis:7-bookworm@sha256:[0-9a-f]{64}\}$/m);
    expect(COMPOSE.match(/^ +image: .*$/gm)).toHaveLength(2);
  });

  test('drops root in its entry point, and has an init', () => {
    const last = DOCKERFILE.slice(DOCKERFILE.lastIndexOf('\nFROM '));
    expect(last).not.toMatch(/^USER /m);
    expect(last).toMatch(/^ENTRYPOINT \["tini", "--", "watchkeeper"\]$/m);
    expect(last).toMatch(/ln -s \/app\/deploy\/container-entrypoint \/usr\/local\/bin\/watchkeeper/);
    expect(last).toMatch(/WATCHKEEPER_AGENT_USER=node/);
    // Who may not enter a folder gets at nothing below it, whoever owns that.
    expect(last).toMatch(/chmod 0700 \/data\/logs \/private/);
    expect(last).toMatch(/^HEALTHCHECK /m);
    expect(last).toMatch(/WATCHKEEPER_CONTAINER_DIES_WHOLE=yes/);
  });
});

describe('a life sign', () => {
  const here = readProcessIdentity('here');
  /** As a process in another container of this kernel sees us. */
  const fromElsewhere = { ...here, pid_namespace: '1', pid: 7 };

  // rule: a-container-gives-a-life-sign
  test('shows another container that its process lives, until it stops', async () => {
    const { logsFolder, sign } = give({ parentPid: 1 });
    expect(await isOwnerAlive(here, fromElsewhere, logsFolder)).toBeNull();
    await sign.start();
    expect(await isOwnerAlive(here, fromElsewhere, logsFolder)).toBe(true);
    expect(await isOwnerAlive(here, { ...fromElsewhere, boot_id: '' }, logsFolder)).toBeNull();
    expect(await isOwnerAlive(here, { ...fromElsewhere, host: 'elsewhere' }, logsFolder)).toBeNull();
    await sign.stop();
    expect(existsSync(lifeSignPath(logsFolder, here))).toBe(false);
  });

  test('is not given by a process whose exit does not end its container; that is logged', async () => {
    const { logsFolder, sign, said } = give({ parentPid: 4711 });
    await sign.start();
    expect(existsSync(lifeSignPath(logsFolder, here))).toBe(false);
    expect(said.join()).toContain('is not the main one of its container');
  });

  test('of a container that ended days ago is deleted at the start, and no newer one', async () => {
    const { logsFolder, sign } = give({ parentPid: 1 });
    const folder = lifeSignFolder(logsFolder);
    mkdirSync(folder, { recursive: true });
    const now = systemClock.now() / SECOND;
    for (const [name, days] of [
      ['old', 2],
      ['new', 0],
    ] as const) {
      writeFileSync(join(folder, name), '');
      utimesSync(join(folder, name), now, now - (days * DAY) / SECOND);
    }
    await sign.start();
    expect([existsSync(join(folder, 'old')), existsSync(join(folder, 'new'))]).toEqual([false, true]);
  });

  test('that cannot be given is logged, and prevents no start', async () => {
    const { sign, said } = give({ parentPid: 1, below: 'x'.repeat(120) });
    await sign.start();
    expect(said.join()).toContain('no life sign can be given at');
  });

  function give({ parentPid, below = '' }: { parentPid: number; below?: string }) {
    const logsFolder = join(testFolder(), below);
    const said: string[] = [];
    const destination = { name: 'this test', write: (line: string) => void said.push(line) };
    const logger = createLogger({
      level: 'warn',
      redact: (text) => text,
      clock: systemClock,
      destinations: [destination],
    });
    const sign = new LifeSign({ containerDiesWhole: true, logsFolder, here, parentPid, clock: systemClock, logger });
    afterThisTest(() => sign.stop());
    return { logsFolder, sign, said };
  }
});

/** @returns the lines below `head` that are indented deeper than it */
function block(text: string, head: string): string {
  const lines = text.slice(text.indexOf(`\n${head}`) + 1).split('\n');
  const depth = head.length - head.trimStart().length;
  const end = lines.findIndex((line, at) => at > 0 && line !== '' && line.length - line.trimStart().length <= depth);
  return lines.slice(0, end === -1 ? undefined : end).join('\n');
}

/** @returns the variables that a file like .env.example names, each behind a "#" */
function namesIn(text: string): string[] {
  return [...text.matchAll(/^#([A-Z_]+)=/gm)].map(([, name]) => name ?? '');
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}
