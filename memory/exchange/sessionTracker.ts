/** A session in the files of an older tracker, `export --format session-tracker`. They are never read back. */
import { jsonFile } from '../../src/json.js';
import { inMarkdown } from '../../src/log/markdown.js';
import { isoTimeOrNull } from '../../src/time.js';
import { progressOf } from '../fold/state.js';
import type { Worklog } from '../fold/worklog.js';
import type { Line } from '../logs/line.js';
import type { ExportFiles } from './export.js';

const CRASHED = '## META-CRASH DETECTED';
const FILE_ACTIONS: Readonly<Record<string, string>> = {
  working: 'file_working',
  done: 'file_done',
  reading: 'file_reading',
};
const STEP_ACTIONS: Readonly<Record<string, string>> = { in_progress: 'step_start', completed: 'step_done' };

interface Action {
  readonly timestamp: string;
  readonly action: string;
  readonly [field: string]: unknown;
}

/**
 * @param lines of its worklog that were applied
 * @param crash the report of its crash. Null if it did not crash
 */
export function sessionTrackerFiles(
  log: Worklog,
  lines: readonly Line[],
  crash: readonly string[] | null,
): ExportFiles {
  const actions = lines.flatMap(actionsOf);
  return {
    'state.json': jsonFile(stateOf(log)),
    'todo.json': jsonFile(
      [...log.steps.values()].map(({ id, title, status, priority }) => ({
        id,
        content: title,
        status,
        priority: priority ?? 'normal',
        files: [...log.files].filter(([, { step }]) => step === id).map(([path]) => path),
      })),
    ),
    'worklog.jsonl': actions.map((action) => `${JSON.stringify(action)}\n`).join(''),
    'worklog.md': markdownOf(log, actions, crash),
    ...(log.lifecycle === 'active' && { SESSION_ACTIVE: `${log.session_id}\n` }),
  };
}

function stateOf(log: Worklog): Readonly<Record<string, unknown>> {
  const purposeOf = (step: string | null) => (step === null ? null : (log.steps.get(step)?.title ?? null));
  return {
    task: log.facts?.purpose ?? '',
    status: log.end?.reason ?? 'active',
    current_step_id: progressOf([...log.steps.values()]).current,
    current_files: [...log.files].filter(([, { status }]) => status === 'working').map(([path]) => path),
    files: Object.fromEntries(
      [...log.files].map(([path, { status, step }]) => [path, { purpose: purposeOf(step), status }]),
    ),
    started_at: isoTimeOrNull(log.created_at),
    updated_at: isoTimeOrNull(log.last_activity),
    completed_at: isoTimeOrNull(log.end?.at ?? null),
  };
}

/** @returns the older tracker's actions for the line; none for an event that it does not know */
function actionsOf(line: Line): Action[] {
  const { timestamp, event } = line;
  const action = (name: string, fields: Readonly<Record<string, unknown>>): Action => ({
    timestamp,
    action: name,
    ...fields,
  });
  switch (event) {
    case 'session_started':
      return [action('init', { task: line.purpose })];
    case 'step_added':
      return [action('sync_add', { step_id: line.step, content: line.title })];
    case 'step': {
      const name = line.title === undefined ? STEP_ACTIONS[String(line.to)] : undefined;
      const fields = { step_id: line.step, status: line.to, content: line.title, reason: line.reason };
      return [action(name ?? 'sync_update', fields), ...pathsOf(line).map((path) => fileAction(line, path))];
    }
    case 'file':
      if (line.from === undefined) return [action(FILE_ACTIONS[String(line.to)] ?? 'file_done', { path: line.path })];
      return [action('file_rename', { path: line.from, new_path: line.path })];
    case 'ping':
      return [action('ping', { detail: line.detail })];
    case 'log':
      return [action('log', { message: line.message, step_id: line.step })];
    case 'note':
      return [action('log', { message: line.text })];
    case 'error':
      return [action('log', { message: line.message, step_id: line.step, error: line.type })];
    case 'fs_activity':
      return [action('fs_activity', { created: line.created, modified: line.modified, deleted: line.deleted })];
    case 'notice':
      return [action('stuck_alert', { message: line.sentence })];
    case 'session_ended':
      return [action('session_done', { status: line.reason, summary: line.summary })];
    default:
      return [];
  }
}

function fileAction({ timestamp, step, to }: Line, path: string): Action {
  return { timestamp, action: to === 'in_progress' ? 'file_working' : 'file_done', path, step_id: step };
}

function pathsOf({ paths }: Line): string[] {
  return Array.isArray(paths) ? paths.filter((path): path is string => typeof path === 'string') : [];
}

function markdownOf(log: Worklog, actions: readonly Action[], crash: readonly string[] | null): string {
  const entries = actions.map(({ timestamp, action, ...fields }) => {
    const words = Object.entries(fields).flatMap(([name, value]) =>
      value === undefined ? [] : [`${name}: ${inWords(value)}`],
    );
    return `- ${inMarkdown(`${timestamp} ${action}${words.length === 0 ? '' : ` (${words.join(', ')})`}`)}`;
  });
  const report = crash === null ? [] : ['', CRASHED, '', ...crash.map((line) => `> ${inMarkdown(line)}`)];
  return `${[`# ${inMarkdown(log.facts?.purpose ?? '')}`, '', ...entries, ...report].join('\n')}\n`;
}

function inWords(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
