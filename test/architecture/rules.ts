/** The rules of the house that a linter cannot state. Each takes the source files and returns sentences about violations. */
import { posix } from 'node:path';
import { codeOnly, importsOf } from './sourceText.js';

/** Text by path relative to the package: `bridge/cli/main.ts`. */
export type Sources = ReadonlyMap<string, string>;

/** Inner rings first: each may import itself and what stands before it. */
const RINGS = ['src', 'memory', 'monitoring', 'bridge'];
const CLOCK = 'src/time.ts';
/** What a verdict may be made of: no engine, no record but a session's, no file, no package. */
const PURE = 'monitoring/verdict/';
const IN_A_VERDICT =
  /^(?:monitoring\/verdict\/|src\/(?:time|jobs\/(?:findings|model)|config\/(?:rules|polling)|journal\/\w+)\.ts$)/;
/** What session memory works without: Redis, and the records in it. */
const OF_REDIS = /^src\/(?:redis|jobs)\/|^(?:ioredis|bullmq)$/;
const BAD_NAMES = /^(?:utils?|helpers?|types?|managers?)$/i;
const TIMER_MODULES = /^(?:node:)?(?:timers(?:\/promises)?|perf_hooks)$/;
const WALL_CLOCK = [
  /\bDate\s*\.\s*now\b/,
  /\bnew\s+Date\b\s*(?:\(\s*\)|(?!\s*\())/,
  /(?<!new\s+)(?<![\w.$])Date\s*\(/,
  /\bperformance\s*\.\s*now\b/,
  /(?<![\w$.])(?:setTimeout|setInterval|setImmediate)\b/,
  /\bglobalThis\s*\.\s*(?:setTimeout|setInterval|setImmediate)\b/,
  /\bAbortSignal\s*\.\s*timeout\b/,
  /\bprocess\s*\.\s*(?:hrtime|uptime)\b/,
];
const SURROUNDINGS = [
  /\bprocess\s*\.\s*(?:env|exit)\b/,
  /\bprocess\s*(?:\?\.)?\s*\[/,
  /\{[^{}]*\b(?:env|exit)\b[^{}]*\}\s*=\s*process\b/,
];
/** The only file that cuts texts, see there. */
const CUTTING_ROOM = 'src/log/shorten.ts';
/** By the names of the house `MOST_…` counts things; every other constant in such a place is the length of a text. */
const CUTS = [
  /\.\s*(?:slice|substring|substr|subarray)\s*\(\s*0\s*,\s*(?:this\.)?#?(?!MOST_|MINUTE_LENGTH|DIGEST_LENGTH|SLOWEST_|DEEPEST_|FILES_)[A-Z][A-Z_]+\b/,
  /\.\s*(?:slice|substring|substr|subarray)\s*\(\s*-(?!MOST_|\d|count\b)/,
];
/** What they cut has passed the redactor before it comes to them, or holds no words of others: the name of a file. */
const CUT_WHAT_IS_REDACTED = [
  'bridge/chat/progressView.ts',
  'bridge/telegram/progress/progressText.ts',
  'src/transcripts/importTranscript.ts',
  // The observed words of a session.
  'memory/keeping/sessionText.ts',
  'memory/learnings/pattern.ts',
  'memory/observed/prompt.ts',
  'memory/show/shown.ts',
  'src/log/foreignTail.ts',
];
/** The only file that says how git is started, see there. */
const GIT_ROOM = 'memory/git/gitLine.ts';
/** The program by its name or its path; a kind of workspace has the same name. */
const GIT_PROGRAM = /(?<!\bkind(?::| [!=]==) )(['"])(?:\/[\w./-]*\/)?git\1/;
/** `/home/me/` is nobody's: it stands in examples. */
const MACHINE_PATH = /(?<![\w.*-])\/(?:work|farm|(?:home|Users)(?!\/me\/))\//;

/**
 * @param entryPrograms the files that begin a process: they alone read the environment and may exit
 * @returns what is wrong, in words; empty where all is well
 */
export function findViolations(sources: Sources, entryPrograms: readonly string[]): string[] {
  return [
    ...[...sources].flatMap(([path, text]) => [
      ...nameViolations(path),
      ...importViolations(path, text, sources),
      ...codeViolations(path, codeOnly(text), entryPrograms),
      ...(path !== GIT_ROOM && GIT_PROGRAM.test(text)
        ? [`${path}: starts git, perhaps with what a repository tells it to run; see ${GIT_ROOM}`]
        : []),
      ...(MACHINE_PATH.test(text) ? [`${path}: names a path of somebody's machine`] : []),
    ]),
    ...findCircles('imports', [...sources.keys()], (path) => targetsOf(path, sources)),
    ...findFolderCircles(sources),
  ];
}

function nameViolations(path: string): string[] {
  const names = path.split('/').map((name) => name.replace(/\.ts$/, ''));
  return [
    ...names.filter((name) => BAD_NAMES.test(name)).map((name) => `${path}: "${name}" says nothing about the domain`),
    ...(names.at(-1) === 'index' ? [`${path}: no barrels`] : []),
  ];
}

function importViolations(path: string, text: string, sources: Sources): string[] {
  return importsOf(text).flatMap((specifier) => {
    if (path.startsWith(PURE) && !specifier.startsWith('.'))
      return [`${path}: imports ${specifier}; a verdict is pure`];
    if (path.startsWith('memory/') && OF_REDIS.test(specifier))
      return [`${path}: imports ${specifier}; memory needs no Redis`];
    if (TIMER_MODULES.test(specifier) && path !== CLOCK) return [`${path}: imports ${specifier}; take a Clock`];
    if (/^(?:node:)?process$/.test(specifier)) return [`${path}: imports ${specifier}; use the global process`];
    if (!specifier.startsWith('.')) return [];
    if (!specifier.endsWith('.js')) return [`${path}: imports ${specifier}, which does not end in .js`];
    const target = targetOf(path, specifier);
    if (!sources.has(target)) return [`${path}: imports ${specifier}, which is no file of ${RINGS.join(', ')}`];
    if (path.startsWith(PURE) && !IN_A_VERDICT.test(target)) return [`${path}: imports ${target}; a verdict is pure`];
    if (path.startsWith('memory/') && OF_REDIS.test(target))
      return [`${path}: imports ${target}; memory needs no Redis`];
    return isOutward(path, target) ? [`${path}: imports ${target}; imports point inwards, ${RINGS.join(' ← ')}`] : [];
  });
}

function codeViolations(path: string, code: string, entryPrograms: readonly string[]): string[] {
  const found: string[] = [];
  if (/\bexport\s+default\b|\bas\s+default\b/.test(code)) found.push(`${path}: has a default export`);
  if (!entryPrograms.includes(path) && SURROUNDINGS.some((pattern) => pattern.test(code))) {
    found.push(`${path}: reads process.env or calls process.exit; only programs may`);
  }
  if (path !== CLOCK && WALL_CLOCK.some((pattern) => pattern.test(code))) {
    found.push(`${path}: reads the wall clock or sets a timer; take a Clock`);
  }
  if (path !== CUTTING_ROOM && CUTS.some((pattern) => pattern.test(code))) {
    found.push(`${path}: cuts a text itself, perhaps in the middle of a secret; see ${CUTTING_ROOM}`);
  }
  const cutsUnredacted = /\b(?:shorten|cutText|lastOf)\s*\(/.test(code) && !/redact/i.test(code);
  if (path !== CUTTING_ROOM && cutsUnredacted && !CUT_WHAT_IS_REDACTED.includes(path)) {
    found.push(`${path}: cuts a text that was not redacted before`);
  }
  return found;
}

function isOutward(path: string, target: string): boolean {
  return RINGS.indexOf(target.split('/')[0] ?? '') > RINGS.indexOf(path.split('/')[0] ?? '');
}

function targetOf(path: string, specifier: string): string {
  return posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts');
}

/** @returns the files of `sources` that one of them imports */
export function targetsOf(path: string, sources: Sources): string[] {
  const relative = importsOf(sources.get(path) ?? '').filter((specifier) => specifier.startsWith('.'));
  return relative.map((specifier) => targetOf(path, specifier)).filter((target) => sources.has(target));
}

/** Two folders that import each other are one room with a wall in it. A folder and the one in it are two. */
function findFolderCircles(sources: Sources): string[] {
  const targets = new Map<string, Set<string>>();
  for (const path of sources.keys()) {
    const folder = posix.dirname(path);
    const others = targetsOf(path, sources).map((target) => posix.dirname(target));
    targets.set(folder, new Set([...(targets.get(folder) ?? []), ...others.filter((other) => other !== folder)]));
  }
  return findCircles('folders', [...targets.keys()], (folder) => [...(targets.get(folder) ?? [])]);
}

/** Depth first; every circle is told once, from where it was entered. */
function findCircles(of: string, nodes: readonly string[], targets: (node: string) => readonly string[]): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const visit = (node: string, trail: readonly string[]): void => {
    const entered = trail.indexOf(node);
    if (entered >= 0) circles.push(`circle of ${of}: ${[...trail.slice(entered), node].join(' → ')}`);
    if (entered >= 0 || done.has(node)) return;
    for (const target of targets(node)) visit(target, [...trail, node]);
    done.add(node);
  };
  for (const node of nodes) visit(node, []);
  return circles;
}
