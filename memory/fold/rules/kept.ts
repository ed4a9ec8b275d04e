/** Lines that Watchkeeper writes about a session: what it has kept, and which agents were given its record. They are never activity. */
import * as z from 'zod/mini';
import { MOST_FILES, setIn } from '../bounds.js';
import { NOTHING_KEPT } from '../kept.js';
import { fact, unread } from './rule.js';

const text = z.optional(z.string());

const keptFields = () => ({
  copy: z.nullish(z.object({ bytes: z.number(), digest: z.string() })),
  complete: z._default(z.boolean(), false),
  last_activity: z.nullish(z.iso.datetime()),
  digests: z._default(z.array(z.object({ path: z.string(), digest: z.string() })), []),
  /** The sources of the copy, as its seal names them. */
  sources: unread<readonly { provider: string; conversation: string; bytes: number; lines: number }[]>(),
  /** Further sources and digests of the line before. */
  goes_on: z._default(z.boolean(), false),
  removed: z._default(z.boolean(), false),
  failure: z.optional(z.string()),
});

export const keptRules = {
  context_given: fact(
    () => ({ to: text, sub_agent: text, digest: text, level: unread<string>(), characters: unread<number>() }),
    (log, { to, sub_agent: subAgent, digest }, { at }) => {
      if (to !== undefined) log.told = { session_id: to, at };
      if (subAgent === undefined) return;
      log.wasAsked = true;
      setIn(log.given, [subAgent, digest ?? ''], { more: {}, name: 'given' });
    },
    { afterEnd: true, isActivity: false },
  ),
  kept: fact(
    keptFields,
    (log, { copy, complete, last_activity, digests, goes_on, removed, failure }, { at }) => {
      const before = log.kept ?? { ...NOTHING_KEPT, at };
      if (failure !== undefined) log.kept = { ...before, at, failure };
      else if (removed) log.kept = { ...before, at, copy: null, removed: true };
      else {
        const active = last_activity == null ? null : Date.parse(last_activity);
        if (!goes_on) {
          log.kept = { ...NOTHING_KEPT, at, copy: copy ?? null, complete, last_activity: active };
          log.digests.clear();
        }
        for (const { path, digest } of digests)
          setIn(log.digests, [path, digest], { more: {}, name: 'digests', most: MOST_FILES });
      }
    },
    { afterEnd: true, isActivity: false },
  ),
};
