/**
 * `npm run record-transcripts -- PROGRAM [--left-open SECONDS] [SCENE…]`: plays scenes with the real program that is on PATH,
 * `claude` or `codex`, in a terminal, and keeps the transcripts in `test/fixtures/transcripts/PROGRAM-VERSION/`. Needs tmux.
 */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { packageRoot } from '../../../../src/host/program.js';
import { SECOND } from '../../../../src/time.js';
import { CLAUDE_SCENES } from './claudeScenes.js';
import { playClaude } from './claudeStage.js';
import { CODEX_SCENES } from './codexScenes.js';
import { playCodex } from './codexStage.js';
import { keepTranscripts } from './keep.js';

const FIXTURES = join(packageRoot(), 'test/fixtures/transcripts');

type Play = (home: string, ended: () => Promise<void>) => Promise<void>;

/** What each program plays, and where in its home it keeps its transcripts. */
const PROGRAMS: Readonly<Record<string, { readonly written: string; readonly scenes: ReadonlyMap<string, Play> }>> = {
  claude: { written: '.claude/projects', scenes: playable(CLAUDE_SCENES, playClaude) },
  codex: { written: 'sessions', scenes: playable(CODEX_SCENES, playCodex) },
};

function playable<Scene>(
  scenes: Readonly<Record<string, Scene>>,
  play: (scene: Scene, ...rest: Parameters<Play>) => Promise<void>,
): ReadonlyMap<string, Play> {
  const entries = Object.entries(scenes);
  return new Map(entries.map(([name, scene]) => [name, (home, ended) => play(scene, home, ended)]));
}

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { 'left-open': { type: 'string', default: '4' }, out: { type: 'string', default: FIXTURES } },
});
const [name = '', ...wanted] = positionals;
const program = PROGRAMS[name];
if (program === undefined) throw new Error(`name one of ${Object.keys(PROGRAMS).join(', ')}`);
const version = /\d+\.\d+\.\d+/.exec(execFileSync(name, ['--version'], { encoding: 'utf8' }))?.[0];
for (const scene of wanted.length === 0 ? program.scenes.keys() : wanted) {
  const play = program.scenes.get(scene);
  if (play === undefined) throw new Error(`there is no scene ${scene}: ${[...program.scenes.keys()].join(', ')}`);
  // Not below the folder for temporary files: Codex refuses to be at home there.
  const home = mkdtempSync(join(homedir(), '.recording-'));
  try {
    await play(home, async () => {
      await pause(Number(values['left-open']) * SECOND);
      keepTranscripts(join(home, program.written), home, join(values.out, `${name}-${version}`, scene));
    });
    process.stdout.write(`${scene}: kept\n`);
  } catch (error) {
    process.exitCode = 1;
    process.stdout.write(`${scene}: ${error instanceof Error ? error.message : String(error)}\n`);
  } finally {
    rmSync(home, { recursive: true, force: true, maxRetries: 5 });
  }
}
