// The surroundings of every test file: runs what afterThisTest() registered (scope.ts) once the verdict on the test is
// known, and fails a file that leaves sockets, servers, child processes or watchers open.
import { appendFileSync } from 'node:fs';
import { types } from 'node:util';
import * as bullmq from 'bullmq';
import * as ioredis from 'ioredis';
import { TestEnvironment } from 'jest-environment-node';
import * as zod from 'zod';
import * as zodMini from 'zod/mini';
import * as zodCore from 'zod/v4/core';
import './compiledOnce.mjs';
import { forgetStorages } from './followed.mjs';
import { processorMs } from './processorTime.mjs';

// What a test makes for the product must not be writable by a group, whatever the umask of whoever runs it.
process.umask(0o022);

/** Libraries of the product, loaded once by each worker: every file would load and compile them anew. */
const SHARED = { zod, 'zod/mini': zodMini, 'zod/v4/core': zodCore, bullmq, ioredis };
const SCOPES = Symbol.for('watchkeeper.test.scopes');
// See patience.ts.
const PATIENCE = Math.max(Number(process.env.WATCHKEEPER_TEST_PATIENCE ?? 1) || 1, 1);
const CLEANUP_LIMIT_MS = 15_000 * PATIENCE;
const LEAK_LIMIT_MS = 3_000 * PATIENCE;
const COUNTED = /^(TCP|Pipe|UDP|Process|FSEvent|StatWatcher|TLS|Timeout)/;

export default class WatchkeeperEnvironment extends TestEnvironment {
  #before = new Map();
  #handlesBefore = new Set();
  #scopes = { current: [], file: [] };
  #failed = false;
  #processorBefore = processorMs();
  #path;

  constructor(config, context) {
    super(config, context);
    this.#path = context.testPath;
  }

  async setup() {
    await super.setup();
    this.#scopes.current = this.#scopes.file;
    this.global[SCOPES] = this.#scopes;
    this.global[Symbol.for('watchkeeper.test.shared')] = SHARED;
    recogniseNodesErrors(this.global.Error);
    openStandardStreams();
    this.#before = countHandles();
    this.#handlesBefore = new Set(process._getActiveHandles());
  }

  async teardown() {
    await super.teardown();
    forgetStorages();
    const file = process.env.WATCHKEEPER_TEST_PROCESSOR;
    if (file) appendFileSync(file, `${JSON.stringify([this.#path, processorMs() - this.#processorBefore])}\n`);
  }

  async handleTestEvent(event, state) {
    switch (event.name) {
      case 'run_start':
        state.testTimeout *= PATIENCE;
        stretchLimits(state.rootDescribeBlock);
        return;
      case 'test_start':
        this.#scopes.current = [];
        return;
      case 'test_done':
      case 'test_skip': {
        const passed = event.test.errors.length === 0;
        if (!passed) this.#failed = true;
        await cleanUp(this.#scopes.current, passed, state.unhandledErrors);
        this.#scopes.current = this.#scopes.file;
        return;
      }
      case 'run_finish':
        await cleanUp(this.#scopes.file, !this.#failed && state.unhandledErrors.length === 0, state.unhandledErrors);
        await expectNoLeak(this.#before, this.#handlesBefore, state.unhandledErrors);
        // A leak fails the file; it must not keep jest itself from ending.
        for (const handle of process._getActiveHandles()) if (!this.#handlesBefore.has(handle)) handle.unref?.();
    }
  }
}

// jest gives each file an `Error` of its own, so that errors of Node's parts are no `instanceof Error` there. In production
// they are; without this the tests would walk through other branches than the product.
function recogniseNodesErrors(ErrorHere) {
  const ordinary = Function.prototype[Symbol.hasInstance];
  Object.defineProperty(ErrorHere, Symbol.hasInstance, {
    value(thing) {
      return ordinary.call(this, thing) || (this === ErrorHere && types.isNativeError(thing));
    },
  });
}

function stretchLimits(block) {
  for (const limited of [...block.hooks, ...block.children]) {
    if (limited.timeout) limited.timeout *= PATIENCE;
    if (limited.type === 'describeBlock') stretchLimits(limited);
  }
}

async function cleanUp(tasks, passed, errors) {
  for (const task of tasks.splice(0).reverse()) {
    let timer;
    const late = new Promise((_, reject) => {
      timer = setTimeout(() => reject(new Error('a clean-up did not end in time')), CLEANUP_LIMIT_MS);
    });
    try {
      await Promise.race([task(passed), late]);
    } catch (error) {
      errors.push(error);
    } finally {
      clearTimeout(timer);
    }
  }
}

// Node opens these on their first use, whoever that is: no file is to blame for them.
function openStandardStreams() {
  return [process.stdin, process.stdout, process.stderr];
}

function describeHandle(handle) {
  const facts = [handle.spawnfile, handle.pid, handle.fd, handle.remoteAddress, handle.remotePort ?? handle.localPort];
  return [handle.constructor?.name, ...facts.filter((fact) => fact !== undefined)].join(' ');
}

// Handles close a few turns of the event loop after their owner let go of them, so the count gets a moment to fall.
async function expectNoLeak(before, handlesBefore, errors) {
  const end = performance.now() + LEAK_LIMIT_MS;
  for (;;) {
    const left = [...countHandles()].filter(([kind, count]) => count > (before.get(kind) ?? 0));
    if (left.length === 0) return;
    if (performance.now() > end) {
      const words = left.map(([kind, count]) => `${count - (before.get(kind) ?? 0)} × ${kind}`).join(', ');
      const handles = process._getActiveHandles().filter((handle) => !handlesBefore.has(handle));
      errors.push(new Error(`leak: this test file left open: ${words}; ${handles.map(describeHandle).join(', ')}`));
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

function countHandles() {
  const counts = new Map();
  for (const kind of process.getActiveResourcesInfo()) {
    if (COUNTED.test(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}
