/** Keeps transcripts as fixtures: what tells of the session as it was written, without what fills them. */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';

/** Prompts of the program, lists of its tools, requests, usage, backups. */
const FILLERS: ReadonlySet<string> = new Set([
  'rendered',
  'systemPrompt',
  'shape',
  'params',
  'cacheControl',
  'tail',
  'usage',
  'snapshot',
  'modelUsage',
  'base_instructions',
  'dynamic_tools',
  'state',
  'thread_settings',
  'info',
  'rate_limits',
]);
const LONGEST_TEXT = 240;
const LONGEST_LIST = 8;
const HOME = '/home/me';

/**
 * @param from a folder with the transcripts of one session and its sub-agents, at any depth
 * @param home the folder whose path is replaced
 * @param to their place, without `.jsonl`; what was kept there before is removed
 */
export function keepTranscripts(from: string, home: string, to: string): void {
  rmSync(to, { recursive: true, force: true });
  mkdirSync(dirname(to), { recursive: true });
  const sessions = filesBelow(from).filter((file) => file.endsWith('.jsonl') && !file.includes('subagents'));
  for (const [index, file] of sessions.entries()) {
    const target = index === 0 ? to : `${to}-${index + 1}`;
    keep(join(from, file), `${target}.jsonl`, home);
    const beside = join(from, file.slice(0, -'.jsonl'.length));
    for (const agent of filesBelow(beside)) {
      const path = join(target, agent);
      mkdirSync(dirname(path), { recursive: true });
      if (agent.endsWith('.jsonl')) keep(join(beside, agent), path, home);
      else cpSync(join(beside, agent), path);
    }
  }
}

/** @returns paths relative to the folder, in order; none where there is no such folder */
function filesBelow(folder: string): string[] {
  if (!existsSync(folder)) return [];
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

function keep(path: string, target: string, home: string): void {
  const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
  const kept = lines.map((line) =>
    JSON.stringify(thin(JSON.parse(line)))
      .replaceAll(home, HOME)
      .replaceAll(asName(home), asName(HOME)),
  );
  writeFileSync(target, kept.map((line) => `${line}\n`).join(''));
}

function thin(value: unknown): unknown {
  if (typeof value === 'string') return value.length > LONGEST_TEXT ? `${value.slice(0, LONGEST_TEXT)}…` : value;
  if (Array.isArray(value)) return value.slice(0, LONGEST_LIST).map(thin);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) => (FILLERS.has(key) ? [] : [[key, thin(inner)]])),
  );
}

/** As Claude Code makes a folder's name of a path. */
function asName(path: string): string {
  return path.replaceAll(/[^A-Za-z0-9]/g, '-');
}
