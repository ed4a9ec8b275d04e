import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { findInstallation } from '../../../bridge/agents/claude/installation.js';
import { SDK_PACKAGE } from '../../../bridge/agents/claude/sdk.js';
import { testFolder } from '../../harness/folder.js';

// rule: what-is-added-is-found
test('an SDK that is added while the process runs is found at the next message, and missed after its removal', () => {
  const root = testFolder();
  const from = join(root, 'dist', 'bridge', 'agents');
  const modules = join(root, 'node_modules');
  const find = () => findInstallation(SDK_PACKAGE, from);
  expect(find()).toMatchObject({ kind: 'incomplete', why: expect.stringContaining('is not installed') });
  mkdirSync(join(modules, SDK_PACKAGE), { recursive: true });
  writeFileSync(join(modules, SDK_PACKAGE, 'package.json'), '{}');
  expect(find()).toMatchObject({ kind: 'incomplete', why: expect.stringContaining('without its program') });
  const platform = join(modules, `${SDK_PACKAGE}-${process.platform}-${process.arch}`);
  mkdirSync(platform);
  writeFileSync(join(platform, 'claude'), '');
  expect(find()).toEqual({ kind: 'complete', program: join(platform, 'claude') });
  rmSync(modules, { recursive: true });
  expect(find().kind).toBe('incomplete');
});
