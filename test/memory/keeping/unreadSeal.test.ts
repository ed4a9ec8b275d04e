/** A kept copy whose seal cannot be read may be all that is left of a transcript. */
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, expect, test } from '@jest/globals';
import { failAt, standInForFiles, whileFailing } from '../../harness/failingFiles.js';

// covers: memory/keeping/copyCheck.ts memory/keeping/keep.ts memory/observed/keptCopy.ts

standInForFiles();
const { worklogKind } = await import('../../../memory/fold/rules/kind.js');
const { keepSession } = await import('../../../memory/keeping/keep.js');
const { verifySession } = await import('../../../memory/keeping/verify.js');
const { listSessions } = await import('../../../memory/look/list.js');
const { packageRoot } = await import('../../../src/host/program.js');
const { memoryScene } = await import('../scene.js');

const CLAUDE = join(packageRoot(), 'test/fixtures/transcripts/claude/deeds.jsonl');
const FIRST = '5f0c1c0e-8a52-4f3e-9a59-0b6c5f6f2a11';
const SECOND = '5f0c1c0e-8a52-4f3e-9a59-0b6c5f6f2a12';

let keep: () => ReturnType<typeof keepSession>;
let memoryOf: () => ReturnType<ReturnType<typeof memoryScene>['open']>;
let id: string;
let copy: string;
let whole: string;

/** A session with two conversations was kept; then the agent's program deletes the first transcript. */
beforeEach(async () => {
  const scene = memoryScene();
  const programs = join(scene.directory, '..', 'person');
  const project = join(programs, '.claude/projects/-home-me-popoto');
  mkdirSync(project, { recursive: true });
  cpSync(CLAUDE, join(project, `${FIRST}.jsonl`));
  writeFileSync(join(project, `${SECOND}.jsonl`), readFileSync(CLAUDE, 'utf8').replaceAll(FIRST, SECOND));
  memoryOf = () => scene.open({ HOME: programs });
  const memory = memoryOf();
  const begun = { purpose: 'x', fields: {}, plan: [], concurrent: false };
  const { log, id: name } = memory.lifecycle.begin(memory.workspace, begun);
  const fields = { provider: 'claude', source: 'bind', since: null } as const;
  const lines = [FIRST, SECOND].map((conversation) => worklogKind.line('conversation', { ...fields, conversation }));
  log.write(() => lines, memory.stamp);
  id = name;
  keep = () => {
    const now = memoryOf();
    return keepSession(now, now.which(id), Number.POSITIVE_INFINITY);
  };
  expect(await keep()).toMatchObject({ kept: 'written', conversations: 2 });
  copy = join(memory.which(id).folder, 'tool_use.jsonl');
  whole = readFileSync(copy, 'utf8');
  rmSync(join(project, `${FIRST}.jsonl`));
});

test.each(['EMFILE', 'EIO', 'EACCES'])('it is not replaced if its first opening fails with %s', async (code) => {
  failAt(copy, code, 'next opening');
  await expect(keep()).rejects.toThrow(`${copy} cannot be read: ${code}`);
  expect(readFileSync(copy, 'utf8')).toBe(whole);
  expect(await keep()).toMatchObject({ conversations: 2 });
  expect(readFileSync(copy, 'utf8')).toBe(whole);
});

test('it is not replaced if its seal is cut off', async () => {
  const cut = whole.slice(0, -30);
  writeFileSync(copy, cut);
  await expect(keep()).rejects.toThrow(
    `${copy} is not whole, and a transcript that it may have been made from is gone`,
  );
  expect(readFileSync(copy, 'utf8')).toBe(cut);
});

test('the check of the session does not say that it is gone', () => {
  const memory = memoryOf();
  const check = () => verifySession(memory, memory.which(id)).find((one) => one.check === 'copy');
  expect(whileFailing(copy, 'EIO', check)).toMatchObject({ ok: false, found: expect.stringContaining(`EIO: ${copy}`) });
});

test('a list leaves the session out, and says why', async () => {
  const said: string[] = [];
  const end = failAt(copy, 'EIO');
  const onUnreadable = ({ message }: Error) => void said.push(message);
  const options = { where: 'everywhere', which: 'all', judge: async () => null, onUnreadable } as const;
  await listSessions(memoryOf(), options);
  end();
  expect(said).toEqual([expect.stringContaining(`${copy} cannot be read`)]);
});
