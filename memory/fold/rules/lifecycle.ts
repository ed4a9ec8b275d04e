/** The beginning, the end, and what a session says of itself. */
import * as z from 'zod/mini';
import { END_REASONS, SETTINGS } from '../../words.js';
import type { Settings } from '../worklog.js';
import { fact, rule } from './rule.js';

const MOST_CHILDREN = 10;
const text = z.optional(z.string());
const head = z._default(z.nullable(z.string()), null);
/** A setting of another type is passed over, as an unknown one is. */
const word = z.catch(text, undefined);
const parts = <Parts extends object>() =>
  z.catch(z.optional(z.custom<Parts>((value) => typeof value === 'object')), undefined);
/** The beginning may have them, and `session_changed`. */
const settings = () => ({
  ...{ workflow_mode: word, execution_mode: word, execution_backend: word, task_complexity: word },
  ...{ role: word, governance_level: word, framework: word, summary: word },
  documents: parts<NonNullable<Settings['documents']>>(),
  language: parts<NonNullable<Settings['language']>>(),
});
const startedFields = () => ({
  session_id: z.string().check(z.minLength(1)),
  purpose: z._default(z.string(), ''),
  name: text,
  workspace: text,
  cwd: text,
  parent: text,
  parent_step: text,
  continues: text,
  agent: text,
  explicit: z._default(z.boolean(), false),
  concurrent: z._default(z.boolean(), false),
  baseline: z.optional(z.object({ head, branch: head, dirty_digest: head })),
  ...settings(),
});
const endedFields = () => ({
  reason: z.enum(END_REASONS),
  summary: text,
});

export const lifecycleRules = {
  session_started: rule(startedFields, (log, started, { at }) => {
    // Two hooks of one start may both have found it without a beginning.
    if (log.facts?.explicit === false && !started.explicit && started.session_id === log.session_id) return null;
    if (log.facts !== null) return { code: 'begun', message: `session ${log.session_id} has begun already` };
    log.session_id = started.session_id;
    log.created_at = at;
    log.facts = {
      purpose: started.purpose,
      name: started.name ?? null,
      workspace: started.workspace ?? null,
      cwd: started.cwd ?? null,
      parent: started.parent ?? null,
      parent_step: started.parent_step ?? null,
      continues: started.continues ?? null,
      agent: started.agent ?? null,
      explicit: started.explicit,
      concurrent: started.concurrent,
      baseline: started.baseline ?? null,
      set: {},
    };
    change(log.facts.set, started);
    return null;
  }),
  session_changed: rule(
    () => ({ purpose: z.optional(z.string().check(z.minLength(1))), name: text, ...settings() }),
    (log, changed) => {
      if (log.facts === null) return { code: 'not_begun', message: 'there is no session to change' };
      log.facts.purpose = changed.purpose ?? log.facts.purpose;
      log.facts.name = changed.name ?? log.facts.name;
      change(log.facts.set, changed);
      return null;
    },
  ),
  session_ended: rule(endedFields, (log, { reason, summary }, { at }) => {
    log.lifecycle = 'ended';
    log.end = { reason, summary: summary ?? null, at };
    log.notices.length = 0;
    return null;
  }),
  session_reopened: rule(
    () => ({}),
    (log) => {
      if (log.lifecycle !== 'ended') return { code: 'not_ended', message: `session ${log.session_id} has not ended` };
      log.lifecycle = 'active';
      log.end = null;
      return null;
    },
    { afterEnd: true },
  ),
  session_archived: fact(
    () => ({ documents: z._default(z.array(z.string()), []) }),
    (log, { documents }, { at }) => {
      log.archived ??= { at, documents };
    },
    { afterEnd: true, isActivity: false },
  ),
  session_unarchived: fact(
    () => ({}),
    (log, _, { at }) => {
      log.archived = null;
      // It is wanted: until it has rested for long again, it stays.
      log.acknowledged_at = at;
    },
    { afterEnd: true, isActivity: false },
  ),
  child: rule(
    () => ({ child: z.string().check(z.minLength(1)), step: text, most: z._default(z.int(), MOST_CHILDREN) }),
    (log, { child, step, most }, { at }) => {
      if (log.children.has(child)) return null;
      if (log.children.size >= most)
        return { code: 'too_many_children', message: `session ${log.session_id} has ${most} child sessions already` };
      log.children.set(child, { session_id: child, step: step ?? null, at });
      return null;
    },
  ),
};

function change(set: Settings, { documents, language, ...said }: Settings): void {
  for (const key of SETTINGS) if (said[key] !== undefined) set[key] = said[key];
  // Each part is set by itself.
  if (documents !== undefined) set.documents = { ...set.documents, ...documents };
  if (language !== undefined) set.language = { ...set.language, ...language };
}
