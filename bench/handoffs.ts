/**
 * What does it cost to take a handoff over, and to learn what has changed since it was written?
 *
 * Measured: an acceptance, of a handoff of its own each time; the drift of a handoff with 1,000 files in a git worktree, of which every
 * tenth was changed.
 * Yardsticks: a file opened, a line of the same length appended and synced, and the file closed; the SHA-256 of the same files.
 * Targets: 2 times either. Files have to be on a real disk: in memory, syncing takes no time.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { driftOf } from '../memory/handoffs/drift.js';
import { Handoffs } from '../memory/handoffs/handoffs.js';
import { handoffKind } from '../memory/handoffs/kind.js';
import { Memory } from '../memory/sessions/memory.js';
import { offerHandoff } from '../memory/verbs/createHandoff.js';
import { ask } from '../memory/verbs/verb.js';
import { readProcessIdentity } from '../src/host/identity.js';
import { redactShapes } from '../src/log/redact.js';
import { MINUTE, systemClock } from '../src/time.js';
import { SILENT_DOOR } from './door.js';
import { sayCompared, sayTarget } from './report.js';
import { compare, timed } from './rounds.js';
import { inScratchFolder } from './scratch.js';

const FILES = 1_000;
const LINES = 300;
const LINE = `  const value = compute(first, second);\n`;
const CHANGED_EVERY = 10;
const EARLIER = new Date(systemClock.now() - MINUTE);
const MOST_RATIO = 2;
const ACCEPTANCES = { rounds: 600, warmUpRounds: 100, limitMs: 60_000 };
const DRIFTS = { rounds: 15, warmUpRounds: 2, limitMs: 60_000 };
const GIVEN = { title: 'Measure', learnings: ['tokens live 1 h'], next: ['write the tests'] };

await inScratchFolder(async (folder) => {
  const root = join(folder, 'work');
  const names = Array.from({ length: FILES }, (_, index) => `part${index}.ts`);
  makeRepository(root, folder, names);
  const memory = new Memory({
    surroundings: {
      variables: { PATH: process.env.PATH ?? '', HOME: folder, WATCHKEEPER_HOME: join(folder, 'home') },
      directory: root,
      process: readProcessIdentity('bench'),
    },
    ...{ folder: null, clock: systemClock, redact: redactShapes },
  });
  const handoffs = new Handoffs(memory);
  const offer = async (notes: string, files: readonly string[]) => {
    const { value } = await ask(offerHandoff, memory, { ...GIVEN, notes, files }, SILENT_DOOR);
    return String(Object(value).handoff_id);
  };
  const ids: string[] = [];
  while (ids.length < ACCEPTANCES.rounds + ACCEPTANCES.warmUpRounds) ids.push(await offer(`${ids.length}`, []));
  await compareAcceptances(memory, folder, ids);
  const handoff = handoffs.named(await offer('all', names));
  names.forEach((name, index) => {
    if (index % CHANGED_EVERY === 0) appendFileSync(join(root, name), LINE);
  });
  const hash = () =>
    names.map((name) =>
      createHash('sha256')
        .update(readFileSync(join(root, name)))
        .digest('hex'),
    );
  const compared = await compare({
    ours: () => timed(() => driftOf(memory, handoff)),
    yardstick: () => timed(hash),
    ...DRIFTS,
  });
  sayCompared(`handoffs: the drift of ${FILES} files`, 'hashing them', compared);
  sayTarget({ what: 'times hashing', value: compared.ratio.median, atMost: MOST_RATIO, unit: '' });
});

function makeRepository(root: string, home: string, names: readonly string[]): void {
  mkdirSync(root);
  for (const name of names) {
    const path = join(root, name);
    writeFileSync(path, `// ${name}\n${LINE.repeat(LINES)}`);
    // Git reads each file again that is as old as its index, to the second.
    utimesSync(path, EARLIER, EARLIER);
  }
  const by = ['-c', 'user.name=bench', '-c', 'user.email=bench@example.invalid'];
  const { PATH } = process.env;
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    [...by, 'commit', '-q', '-m', 'first'],
  ])
    execFileSync('git', args, { cwd: root, env: { PATH, HOME: home } });
}

async function compareAcceptances(memory: Memory, folder: string, ids: readonly string[]): Promise<void> {
  const handoffs = new Handoffs(memory);
  const line = handoffKind.line('accepted', { as: 'follow', workspace: memory.workspace.id });
  const bytes = 'x'.repeat(250);
  // Files of their own, with the offer in them, as handoffs have; and as long on the disk, because syncing a new one again is cheaper.
  const paths = ids.map((id) => join(folder, `bare ${id}`));
  for (const path of paths) writeFileSync(path, 'x'.repeat(700), { flush: true });
  let [next, file] = [0, 0];
  const compared = await compare({
    ours: () => timed(() => handoffs.answer(ids[next++] ?? '', line, () => false)),
    yardstick: () => {
      const path = paths[file++] ?? '';
      return timed(() => {
        const descriptor = openSync(path, 'a');
        writeSync(descriptor, bytes);
        fsyncSync(descriptor);
        closeSync(descriptor);
      });
    },
    ...ACCEPTANCES,
  });
  sayCompared('handoffs: an acceptance', 'a bare append with fsync', compared);
  sayTarget({ what: 'times the append', value: compared.ratio.median, atMost: MOST_RATIO, unit: '' });
}
