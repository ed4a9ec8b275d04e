/** Waits, and notices of watchers. */
import * as z from 'zod/mini';
import { isoTime } from '../../../src/time.js';
import { setIn } from '../bounds.js';
import { fact, rule, unread } from './rule.js';

const PERMISSION = 'permission';
const text = z.optional(z.string());
const instant = z.nullish(z.iso.datetime());
const waitFields = () => ({
  kind: z.string().check(z.minLength(1)),
  tool_use_id: text,
  until: instant,
  tool: unread<string>(),
  input_digest: unread<string>(),
  agent_id: unread<string>(),
});
const paths = unread<readonly string[]>;
type Changes = 'created' | 'modified' | 'deleted';

export const watchRules = {
  wait_start: fact(waitFields, (log, { kind, tool_use_id, until }, { at }) => {
    const { waits, more } = log;
    log.wasAsked = true;
    if (kind === PERMISSION) log.permission_asked_at = at;
    const wait = { kind, since: at, until: timeOf(until) };
    setIn(waits, [tool_use_id ?? kind, wait], { more, name: 'waits' });
  }),
  wait_end: fact(waitFields, (log, { kind, tool_use_id }) => {
    if (kind === PERMISSION) log.permission_asked_at = null;
    log.waits.delete(tool_use_id ?? kind);
  }),
  // If there are several watchers, the first one notifies.
  notice: rule(
    () => ({
      rule: z.string().check(z.minLength(1)),
      since: instant,
      sentence: z._default(z.string(), ''),
    }),
    ({ notices }, { rule: name, since, sentence }, { id, at }) => {
      const [open] = notices;
      if (open !== undefined)
        return { code: 'noticed', message: `it was noticed already, at ${isoTime(open.at)}: ${open.rule}` };
      notices.push({ id, rule: name, since: timeOf(since), sentence, at });
      return null;
    },
    { isActivity: false },
  ),
  notice_closed: fact(
    () => ({ notice: z.string() }),
    ({ notices }, { notice }) => {
      const at = notices.findIndex(({ id }) => id === notice);
      if (at >= 0) notices.splice(at, 1);
    },
    { isActivity: false },
  ),
  // Watchkeeper has seen it, and others have done it.
  fs_activity: fact(
    () => ({
      ...{ created: paths(), modified: paths(), deleted: paths() },
      counts: unread<Readonly<Record<Changes, number>>>(),
    }),
    (log, _, { at }) => {
      log.last_activity = at;
    },
  ),
};

function timeOf(instant: string | null | undefined): number | null {
  return instant == null ? null : Date.parse(instant);
}
