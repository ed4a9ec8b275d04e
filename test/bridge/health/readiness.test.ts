/** What the process says of itself over HTTP, and whom it tells outside. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import {
  bridgeGauge,
  lagGauge,
  logsGauge,
  pollGauge,
  redisGauge,
  watchdogGauge,
  workerGauge,
} from '../../../bridge/health/gauges.js';
import { type Gauge, HealthServer } from '../../../bridge/health/healthServer.js';
import { OutsidePing } from '../../../bridge/health/outsidePing.js';
import { LoopBeat } from '../../../bridge/health/stallGuard.js';
import { acceptForOthers, MessageAcceptor } from '../../../bridge/intake/acceptMessage.js';
import { Admission } from '../../../bridge/intake/admission.js';
import { Commands } from '../../../bridge/intake/commands/commands.js';
import { TelegramIntake } from '../../../bridge/telegram/intake/intake.js';
import { RejectedUpdates } from '../../../bridge/telegram/intake/rejectedUpdates.js';
import { UsageError } from '../../../src/errors.js';
import { readProcessIdentity } from '../../../src/host/identity.js';
import { createLogger } from '../../../src/log/logger.js';
import type { Clock } from '../../../src/time.js';
import { HOUR, MINUTE, SECOND } from '../../../src/time.js';
import { describeScenes, openTestScene, SCENE_TIMEOUT_MS } from '../../e2e/testScene.js';
import { ManualClock } from '../../harness/clock.js';
import { testFolder } from '../../harness/folder.js';
import { freePort } from '../../harness/freePort.js';
import { describeWithRedis } from '../../harness/redis.js';
import { afterThisTest } from '../../harness/scope.js';
import { CHAT, ONLY_POLLER, openScene, type Scene } from '../telegram/scene.js';

const HERE = readProcessIdentity('pier');
const PING_PATH = '/ping/e7a1-secret-part';

describeWithRedis('readiness', () => {
  // rule: readiness-sees-the-poll
  test('turns red when getUpdates stops completing, although sends succeed', async () => {
    const scene = await openScene();
    const intake = intakeOf(scene);
    const port = await serve(scene, [pollGauge(intake, scene.clock)]);
    expect(await ask(port)).toMatchObject({ status: 503, conditions: { telegram: false } });
    await intake.start();
    afterThisTest(() => intake.stop());
    scene.peer.say(CHAT, '/help', { userId: 1 });
    await scene.peer.waitFor(() => scene.peer.botMessages(CHAT).length === 1 && scene.peer.polling);
    // A reading serves for a second.
    await scene.clock.advance(SECOND);
    expect(await ask(port)).toMatchObject({ status: 200, conditions: { telegram: true } });

    const hanging = scene.peer.inject({ kind: 'hang', method: 'getUpdates', times: Number.POSITIVE_INFINITY });
    // Ends the poll that is open; every later one hangs until our own limit ends it.
    scene.peer.say(CHAT, '/help', { userId: 1 });
    await scene.peer.waitFor(() => hanging.used === 1);
    await scene.clock.advance(80 * SECOND);
    expect(await ask(port)).toMatchObject({ status: 200 });
    await scene.clock.advance(20 * SECOND);
    await scene.api.sendMessage(
      { chatId: String(CHAT), threadId: null, replyTo: null },
      { plain: 'hello', html: null },
    );
    const red = await ask(port);
    expect(red).toMatchObject({ status: 503, ready: false, conditions: { telegram: false } });
    expect(red.text).toContain('the last getUpdates completed 100 s ago');
    expect(red.text).not.toContain(scene.peer.token);
  });
});

describe('a gauge', () => {
  const well = async () => undefined;
  const clock = new ManualClock();
  const now = clock.now();
  const acting = { isActing: true, isOurs: true };
  const working = { lastActiveAt: now - SECOND, isFull: false };
  const ticked = { lastTickAt: now - HOUR, nextTickAt: now - MINUTE };

  test.each<[string, Gauge, boolean]>([
    ['worker: took a job a second ago', workerGauge(working, clock), true],
    ['worker: took none for two minutes', workerGauge({ ...working, lastActiveAt: now - 2 * MINUTE }, clock), false],
    [
      'worker: all slots have been taken for long',
      workerGauge({ lastActiveAt: now - HOUR, isFull: true }, clock),
      true,
    ],
    ['worker: has taken none yet', workerGauge({ lastActiveAt: null, isFull: false }, clock), false],
    ['watchdog: the next tick is a minute late', watchdogGauge(ticked, acting, clock), true],
    ['watchdog: it is an hour late', watchdogGauge({ ...ticked, nextTickAt: now - HOUR }, acting, clock), false],
    ['watchdog: has not run yet', watchdogGauge({ lastTickAt: null, nextTickAt: now }, acting, clock), false],
    [
      'watchdog: another one is acting',
      watchdogGauge({ lastTickAt: null, nextTickAt: now }, { isActing: false, isOurs: false }, clock),
      true,
    ],
    ['watchdog: its lease has run out', watchdogGauge(ticked, { isActing: false, isOurs: true }, clock), false],
    ['logs folder: accepts files', logsGauge(tmpdir(), { owed: async () => 0 }), true],
    ['logs folder: accepts none', logsGauge('/dev/null', { owed: async () => 0 }), false],
    ['logs folder: lacks lines', logsGauge(tmpdir(), { owed: async () => 2 }), false],
    ['redis: accepts a write', redisGauge(well, clock), true],
    ['bridge: reported a second ago', bridgeGauge(async () => ({ owner: HERE, said_at: now - SECOND }), clock), true],
    ['bridge: none is alive', bridgeGauge(async () => null, clock), false],
    ['event loop: a second late', lagGauge({ lagMs: SECOND }), true],
    ['event loop: ten seconds late', lagGauge({ lagMs: 10 * SECOND }), false],
  ])('%s', async (_, gauge, ok) => expect(await gauge.read()).toMatchObject({ ok }));

  test('that fails is red, described without its error', async () => {
    const port = await serve({ clock, logger: quiet(clock) }, [
      redisGauge(() => Promise.reject(new Error('hunter2')), clock),
    ]);
    const { status, text } = await ask(port);
    expect(status).toBe(503);
    expect(text).not.toContain('hunter2');
  });

  // rule: a-full-redis-finishes-its-work
  test('of a Redis that refuses its work shows the reason', async () => {
    const full = Object.assign(new Error("OOM command not allowed when used memory > 'maxmemory'."), {
      name: 'ReplyError',
    });
    expect(await redisGauge(() => Promise.reject(full), clock).read()).toMatchObject({
      ok: false,
      reading: expect.stringContaining('it is full'),
    });
  });

  test('that does not answer is red', async () => {
    const still = new ManualClock();
    const port = await serve({ clock: still, logger: quiet(still) }, [
      redisGauge(() => new Promise(() => undefined), still),
    ]);
    const asked = ask(port);
    await still.untilWaiting();
    await still.advance(2 * SECOND);
    expect(await asked).toMatchObject({ status: 503, conditions: { redis: false } });
  });
});

test('the longest delay of the event loop is remembered for half a minute', async () => {
  const clock = new ManualClock();
  const beat = new LoopBeat(clock, MINUTE);
  await beat.start();
  await clock.advance(3 * SECOND);
  expect(beat.lagMs).toBe(0);
  await clock.stall(8 * SECOND);
  expect(beat.lagMs).toBe(7 * SECOND);
  await clock.advance(20 * SECOND);
  expect(beat.lagMs).toBe(7 * SECOND);
  await clock.advance(20 * SECOND);
  expect(beat.lagMs).toBe(0);
  await beat.stop();
});

describe('a port that is taken', () => {
  test.each([true, false])('ends the start if it is required: %s', async (isRequired) => {
    const clock = new ManualClock();
    const said: string[] = [];
    const logger = quiet(clock, said);
    const port = await serve({ clock, logger }, []);
    const second = new HealthServer({ host: '127.0.0.1', port, gauges: [], clock, logger, isRequired });
    const started = second.start();
    if (isRequired) await expect(started).rejects.toThrow(UsageError);
    else await started;
    expect(said.some((line) => line.includes('cannot be listened on'))).toBe(!isRequired);
    await second.stop();
  });
});

test('an idle connection uses few descriptors, and not for long', async () => {
  const clock = new ManualClock();
  const port = await serve({ clock, logger: quiet(clock) }, []);
  const idle = Array.from({ length: 300 }, () => connect(port, '127.0.0.1'));
  afterThisTest(() => {
    for (const socket of idle) socket.destroy();
  });
  let closed = 0;
  await new Promise<void>((resolve) => {
    for (const socket of idle) {
      socket.on('error', () => {});
      socket.once('close', () => {
        closed += 1;
        if (closed === idle.length) resolve();
      });
      // Without an end: the request never comes.
      socket.on('data', () => {});
      socket.write('GET /livez HTTP/1.1\r\nx: ');
    }
  });
  expect(await ask(port)).toMatchObject({ status: 200 });
}, 30_000);

// rule: readiness-cannot-be-blocked
test('two hundred clients that keep reconnecting do not block a request', async () => {
  const clock = new ManualClock();
  const port = await serve({ clock, logger: quiet(clock) }, []);
  const sockets = new Set<Socket>();
  let isOver = false;
  let made = 0;
  const reconnect = (): void => {
    if (isOver) return;
    made += 1;
    const socket = connect(port, '127.0.0.1');
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => {
      sockets.delete(socket);
      setImmediate(reconnect);
    });
    socket.write('GET /readyz HTTP/1.1\r\nx: ');
  };
  afterThisTest(() => {
    isOver = true;
    for (const socket of sockets) socket.destroy();
  });
  for (let client = 0; client < 200; client += 1) reconnect();
  for (let asked = 0; asked < 10; asked += 1) expect(await ask(port)).toMatchObject({ status: 200, ready: true });
  expect(made).toBeGreaterThan(200);
}, 30_000);

// rule: readiness-cannot-be-blocked
test('requests within the same second share one reading', async () => {
  const clock = new ManualClock();
  let reads = 0;
  const counting: Gauge = {
    name: 'counted',
    async read() {
      reads += 1;
      return { ok: reads < 2, reading: `${reads}` };
    },
  };
  const port = await serve({ clock, logger: quiet(clock) }, [counting]);
  for (let asked = 0; asked < 5; asked += 1) expect(await ask(port)).toMatchObject({ status: 200 });
  expect(reads).toBe(1);
  await clock.advance(SECOND);
  expect(await ask(port)).toMatchObject({ status: 503 });
});

describe('the host name of a health request', () => {
  async function statusFor(host: string | null, listensOn = '127.0.0.1'): Promise<number> {
    const clock = new ManualClock();
    const port = await serve({ clock, logger: quiet(clock) }, [], listensOn);
    const socket = connect(port, '127.0.0.1');
    afterThisTest(() => void socket.destroy());
    socket.write(`GET /readyz HTTP/1.${host === null ? 0 : 1}\r\n${host === null ? '' : `Host: ${host}\r\n`}\r\n`);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    return Number(/^HTTP\/1\.1 (\d+)/.exec(answer.toString())?.[1]);
  }

  // rule: readiness-cannot-be-blocked
  test.each([
    ['127.0.0.1:8787', 200],
    ['localhost', 200],
    ['LOCALHOST:8787', 200],
    ['[::1]:8787', 200],
    ['10.1.2.3:8787', 200],
    [null, 200],
    ['evil.example', 421],
    ['127.0.0.1.evil.example:8787', 421],
    ['localhost.evil.example', 421],
  ])('on loopback: %s gets %s', async (host, status) => expect(await statusFor(host)).toBe(status));

  test('is not restricted if the server listens beyond loopback', async () => {
    expect(await statusFor('bridge:8787', '0.0.0.0')).toBe(200);
  });
});

describe('the external ping address', () => {
  const always = async () => true;

  test('gets a ping at each tick; a failure and its end are logged once, without the secret part', async () => {
    const clock = new ManualClock();
    const said: string[] = [];
    const outside = await startOutside();
    const ping = new OutsidePing(`${outside.url}${PING_PATH}`, clock, quiet(clock, said), always);
    const tick = () => ping.ping();
    await tick();
    expect(outside.asked).toEqual([PING_PATH]);
    outside.status = 500;
    await tick();
    await tick();
    expect(said.filter((line) => line.includes('did not get the ping of the watchdog'))).toHaveLength(1);
    outside.status = 200;
    await tick();
    expect(outside.asked).toHaveLength(4);
    expect(said.at(-1)).toContain('gets the pings of the watchdog again');
    expect(said.join('')).not.toContain('secret-part');
  });

  test('gets no ping while there is no bridge, or while that is unknown', async () => {
    const clock = new ManualClock();
    const outside = await startOutside();
    const url = `${outside.url}${PING_PATH}`;
    for (const isDue of [async () => false, () => Promise.reject(new Error('Redis is away')), always]) {
      await new OutsidePing(url, clock, quiet(clock), isDue).ping();
    }
    expect(outside.asked).toHaveLength(1);
  });

  test('that does not answer delays nothing, and is given up after ten seconds', async () => {
    const clock = new ManualClock();
    const said: string[] = [];
    const outside = await startOutside();
    outside.status = null;
    const ping = new OutsidePing(`${outside.url}${PING_PATH}`, clock, quiet(clock, said), always);
    const pings = [ping.ping(), ping.ping()];
    await outside.untilAsked();
    await clock.advance(10 * SECOND);
    await Promise.all(pings);
    expect(outside.asked).toHaveLength(1);
    expect(said.join('')).toContain('no answer in time');
  });
});

describeScenes('a bridge', () => {
  test(
    'is alive and ready, pings the external address at its ticks, and is not ready while Redis is unreachable',
    async () => {
      const outside = await startOutside();
      const port = await freePort();
      const scene = await openTestScene({
        projects: { boat: { chats: [{ id: 1 }] } },
        environment: { HEALTH_PORT: String(port), WATCHDOG_PING_URL: `${outside.url}${PING_PATH}` },
      });
      const bridge = await scene.startBridge();
      const all = { telegram: true, redis: true, worker: true, watchdog: true, 'event loop': true };
      // The first poll waits for a message.
      scene.telegram.say(1, '/help');
      await scene.until('readiness', async () => (await ask(port)).status === 200);
      expect(await ask(port)).toMatchObject({ ready: true, conditions: all });
      await scene.until('a ping', () => outside.asked.length > 0);
      // On a slow machine, another tick may have come.
      expect([...new Set(outside.asked)]).toEqual([PING_PATH]);
      const [taken, standbyPort] = [scene.start(['watchdog']), await freePort()];
      await scene.until('words about the port', () => taken.stderr.includes('works on without telling its health'));
      scene.start(['watchdog'], { HEALTH_PORT: String(standbyPort) });
      await scene.until('a standby that is ready', async () => {
        return (await ask(standbyPort).catch(() => null))?.status === 200;
      });
      expect(await ask(standbyPort)).toMatchObject({
        conditions: { redis: true, watchdog: true, 'event loop': true },
        text: expect.stringContaining('another watchdog acts'),
      });
      expect(taken.exit).toBeNull();
      await scene.redis.stop();
      const red = await scene.until('a red Redis', async () => {
        const answer = await ask(port);
        return answer.conditions.redis === false ? answer : null;
      });
      expect(red).toMatchObject({ status: 503, ready: false, conditions: { telegram: true } });
      expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
      await scene.redis.start();
      await scene.until('readiness again', async () => (await ask(port)).status === 200);
      expect(bridge.stderr).not.toContain('secret-part');
    },
    SCENE_TIMEOUT_MS,
  );
});

function intakeOf(scene: Scene): TelegramIntake {
  const { store, logger, settings } = scene;
  return new TelegramIntake({
    ...scene,
    watch: { refused: async () => undefined, accepted: async () => undefined },
    admission: new Admission(settings, scene),
    acceptor: new MessageAcceptor({
      store,
      accept: acceptForOthers(store),
      settings,
      logger,
      isHostLost: () => false,
    }),
    commands: new Commands(scene, {
      describeActivity: () => null,
      isMissing: () => false,
      terminals: { live: [] },
    }),
    rejected: new RejectedUpdates(scene, testFolder()),
    turn: ONLY_POLLER,
  });
}

async function serve(
  { clock, logger }: Pick<Scene, 'logger'> & { clock: Clock },
  gauges: readonly Gauge[],
  host = '127.0.0.1',
): Promise<number> {
  const server = new HealthServer({ host, port: 0, gauges, clock, logger, isRequired: true });
  await server.start();
  afterThisTest(() => server.stop());
  if (server.port === null) throw new Error('no port');
  return server.port;
}

async function ask(port: number) {
  const response = await fetch(`http://127.0.0.1:${port}/readyz`);
  const text = await response.text();
  const { ready, conditions } = JSON.parse(text) as { ready: boolean; conditions: { name: string; ok: boolean }[] };
  return {
    status: response.status,
    ready,
    conditions: Object.fromEntries(conditions.map(({ name, ok }) => [name, ok])),
    text,
  };
}

function quiet(clock: Clock, said: string[] = []) {
  const destinations = [{ name: 'the test', write: (line: string) => void said.push(line) }];
  return createLogger({ level: 'info', redact: (text) => text, clock, destinations });
}

/** A server outside that counts who asks; with the status null it never answers. */
async function startOutside() {
  const asked: string[] = [];
  let heard = () => undefined as unknown;
  const outside = { url: '', status: 200 as number | null, asked, untilAsked: () => first };
  const first = new Promise<void>((resolve) => {
    heard = resolve;
  });
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    heard();
    if (outside.status !== null) response.writeHead(outside.status).end('noted');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterThisTest(() => {
    server.closeAllConnections();
    return new Promise<void>((resolve) => server.close(() => resolve()));
  });
  outside.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return outside;
}
