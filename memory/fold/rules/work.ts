/** Entries of the work itself: notes, entries of its log, errors, tokens, checkpoints, signs of life. */
import * as z from 'zod/mini';
import { ERROR_TYPES, PRIORITIES } from '../../words.js';
import { addTo, setIn } from '../bounds.js';
import type { Tokens } from '../worklog.js';
import { fact, rule } from './rule.js';

const text = z.optional(z.string());
const count = z._default(z.number().check(z.nonnegative()), 0);
const head = z._default(z.nullable(z.string()), null);

/** The resolution of an error for which none was given. */
export const PENDING = 'pending';

function addTokens(sum: Tokens, { input, output, cached }: Readonly<Tokens>): void {
  sum.input += input;
  sum.output += output;
  sum.cached += cached;
}

export const workRules = {
  note: fact(
    () => ({ text: z.string().check(z.minLength(1)), priority: z._default(z.enum(PRIORITIES), 'normal') }),
    (log, { text: words, priority }, { at }) => {
      const { notes, more } = log;
      addTo(
        notes,
        { text: words, priority, at },
        { more, name: 'notes', isSettled: (note) => note.priority === 'normal' },
      );
    },
    { afterEnd: true },
  ),
  log: fact(
    () => ({ message: z.string(), step: text }),
    ({ log, more }, { message, step }, { at }) =>
      addTo(log, { message, step: step ?? null, at }, { more, name: 'log' }),
  ),
  ping: fact(
    () => ({ detail: text, until: z.iso.datetime() }),
    (log, { detail, until }) => {
      log.ping = { until: Date.parse(until), detail: detail ?? null };
    },
    { isActivity: false },
  ),
  acknowledged: fact(
    () => ({}),
    (log, _, { at }) => {
      log.acknowledged_at = at;
    },
    { afterEnd: true, isActivity: false },
  ),
  error: fact(
    () => ({
      agent: text,
      type: z.enum(ERROR_TYPES),
      message: z.string(),
      resolution: z._default(z.string(), PENDING),
      resolved: z._default(z.boolean(), false),
      step: text,
    }),
    ({ errors, more }, { agent, step, type, message, resolution, resolved }, { at }) => {
      const entry = { agent: agent ?? null, type, message, resolution, resolved, step: step ?? null, at };
      addTo(errors, entry, { more, name: 'errors', isSettled: (error) => error.resolved });
    },
  ),
  tokens: fact(
    () => ({ agent: z._default(z.string(), 'main'), input: count, output: count, cached: count, step: text }),
    ({ tokens, steps, more }, { agent, step, input, output, cached }) => {
      const sum = { ...(tokens.get(agent) ?? { input: 0, output: 0, cached: 0 }) };
      const added = { input, output, cached };
      addTokens(sum, added);
      setIn(tokens, [agent, sum], { more, name: 'tokens' });
      const of = step === undefined ? undefined : steps.get(step);
      if (of !== undefined) addTokens(of.tokens, added);
    },
    { isActivity: false },
  ),
  checkpoint: rule(
    () => ({
      name: z.string().check(z.minLength(1)),
      head,
      branch: head,
      dirty_digest: head,
      untracked_digest: head,
      dirty: count,
      auto: z._default(z.boolean(), false),
    }),
    ({ checkpoints, more }, { name, head: commit, branch, dirty_digest, untracked_digest, dirty, auto }, { at }) => {
      if (checkpoints.has(name))
        return {
          code: 'exists',
          message: `there is a checkpoint "${name}" already; drop it first, or take another name`,
        };
      const checkpoint = { name, head: commit, branch, dirty_digest, untracked_digest, dirty, auto, at };
      setIn(checkpoints, [name, checkpoint], { more, name: 'checkpoints' });
      return null;
    },
  ),
  checkpoint_dropped: rule(
    () => ({ name: z.string() }),
    ({ checkpoints }, { name }) =>
      checkpoints.delete(name) ? null : { code: 'unknown_checkpoint', message: `there is no checkpoint "${name}"` },
  ),
};
