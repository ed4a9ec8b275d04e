/** What replaces `node:crypto` gives the same, and keeps most hooks from loading that. */
import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { lightCrypto } from '../../../bridge/hook/lightCrypto.js';
import { sha256 } from '../../../bridge/hook/sha256.js';
import { testFolder } from '../../harness/folder.js';
import { hook, payload, scene } from './hookScene.js';

/** Around the ends of blocks and of what is digested here. */
const LENGTHS = [...Array(300).keys(), 4_095, 4_096, 4_097, 9_000];
const whole = { createHash, randomBytes } as typeof import('node:crypto');
const light = lightCrypto(() => whole);

test('digests are those of node:crypto, whatever their length and algorithm', () => {
  for (const length of LENGTHS) {
    const bytes = randomBytes(length);
    const digest = createHash('sha256').update(bytes).digest('hex');
    expect(sha256(bytes)).toBe(digest);
    expect(light.createHash('sha256').update(bytes.subarray(0, 7)).update(bytes.subarray(7)).digest('hex')).toBe(
      digest,
    );
  }
  for (const algorithm of ['sha256', 'sha1'])
    expect(light.createHash(algorithm).update('é😀').digest('hex')).toBe(
      createHash(algorithm).update('é😀').digest('hex'),
    );
});

test('every id gets other bytes', () => {
  const filled = Array.from({ length: 50 }, () => light.randomFillSync(Buffer.alloc(16)).toString('hex'));
  expect(new Set(filled).size).toBe(50);
});

const PROBE =
  "process.on('exit', () => process.moduleLoadList.includes('NativeModule crypto') && process.stderr.write('crypto'));";

test.each([
  ['PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'ls' } }, ''],
  ['PermissionRequest', { tool_name: 'Write', tool_input: { content: 'x'.repeat(5_000) } }, 'crypto'],
  ['SubagentStart', { agent_id: 'a' }, ''],
  ['SessionEnd', { reason: 'other' }, ''],
])('%s with %j loads %j', async (event, more, loaded) => {
  const place = scene();
  await hook(place, payload(place, 'SessionStart', { source: 'startup' }));
  const probe = join(testFolder(), 'probe.cjs');
  writeFileSync(probe, PROBE);
  const { code, said } = await hook(place, payload(place, event, more), { NODE_OPTIONS: `--require ${probe}` });
  expect([code, said]).toEqual([0, loaded]);
});
