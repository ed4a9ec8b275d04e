/** What is waited for, and what a watcher has noticed. */
import * as z from 'zod/mini';
import { isoTime } from '../../../src/time.js';
import { setIn } from '../bounds.js';
import { fact, type Rules, rule } from './rule.js';

const text = z.optional(z.string());
const instant = z.nullish(z.iso.datetime());
const waitSchema = () => z.looseObject({ kind: z.string().check(z.minLength(1)), tool_use_id: text, until: instant });

export const watchRules: Rules = {
  wait_start: fact(waitSchema, ({ waits, more }, { kind, tool_use_id, until }, { at }) => {
    const wait = { kind, since: at, until: timeOf(until) };
    setIn(waits, [tool_use_id ?? kind, wait], { more, name: 'waits' });
  }),
  wait_end: fact(waitSchema, ({ waits }, { kind, tool_use_id }) => {
    waits.delete(tool_use_id ?? kind);
  }),
  // Of several watchers, the first one notifies.
  notice: rule(
    () =>
      z.looseObject({
        id: z.string(),
        rule: z.string().check(z.minLength(1)),
        since: instant,
        sentence: z._default(z.string(), ''),
      }),
    ({ notices }, { id, rule: name, since, sentence }, { at }) => {
      const [open] = notices;
      if (open !== undefined)
        return { code: 'noticed', message: `it was noticed already, at ${isoTime(open.at)}: ${open.rule}` };
      notices.push({ id, rule: name, since: timeOf(since), sentence, at });
      return null;
    },
    { isActivity: false },
  ),
  notice_closed: fact(
    () => z.looseObject({ notice: z.string() }),
    ({ notices }, { notice }) => {
      const at = notices.findIndex(({ id }) => id === notice);
      if (at >= 0) notices.splice(at, 1);
    },
    { isActivity: false },
  ),
  // Watchkeeper has seen it, and others have done it.
  fs_activity: fact(
    () => z.looseObject({}),
    (log, _, { at }) => {
      log.last_activity = at;
    },
  ),
};

function timeOf(instant: string | null | undefined): number | null {
  return instant == null ? null : Date.parse(instant);
}
