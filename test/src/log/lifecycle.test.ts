import { expect, test } from '@jest/globals';
import { Lifecycle } from '../../../src/log/lifecycle.js';
import { createLogger } from '../../../src/log/logger.js';
import { systemClock } from '../../../src/time.js';

function services(faults: Record<string, 'start' | 'stop'> = {}) {
  const seen: string[] = [];
  const logged: string[] = [];
  const destinations = [{ name: 'the test', write: (line: string) => void logged.push(line) }];
  const logger = createLogger({ level: 'error', redact: (text) => text, clock: systemClock, destinations });
  const make = (name: string) => ({
    name,
    start: async () => {
      seen.push(`+${name}`);
      if (faults[name] === 'start') throw new Error(`${name} is broken`);
    },
    stop: async () => {
      seen.push(`-${name}`);
      if (faults[name] === 'stop') throw new Error(`${name} stays`);
    },
  });
  return { seen, logged, lifecycle: new Lifecycle('test', logger, ['a', 'b', 'c'].map(make)) };
}

test('services start in order and stop in reverse order, once', async () => {
  const { seen, lifecycle } = services();
  await lifecycle.start();
  await lifecycle.start();
  await lifecycle.stop();
  await lifecycle.stop();
  expect(seen).toEqual(['+a', '+b', '+c', '-c', '-b', '-a']);
});

test('a service that cannot start is stopped too, as it may be half started, and those before it', async () => {
  const { seen, lifecycle } = services({ b: 'start' });
  await expect(lifecycle.start()).rejects.toThrow('b is broken');
  expect(seen).toEqual(['+a', '+b', '-b', '-a']);
});

test('a service that cannot stop does not keep others from stopping, and is logged', async () => {
  const { seen, logged, lifecycle } = services({ b: 'stop' });
  await lifecycle.start();
  await lifecycle.stop();
  expect(seen.slice(3)).toEqual(['-c', '-b', '-a']);
  expect(logged.join()).toContain('b stays');
});
