/** Verbs that record what went wrong, and what an agent has used. */
import * as z from 'zod/mini';
import { worklogKind } from '../fold/rules/kind.js';
import { writeFact } from '../sessions/write.js';
import { ERROR_TYPES } from '../words.js';
import { given, SOME_WORDS } from './fields.js';
import { meant } from './meant.js';
import { ID_SCHEMA } from './planFields.js';
import { verb } from './verb.js';

const COUNT = z._default(z.int().check(z.nonnegative()), 0);

export const recordError = verb({
  name: 'record_error',
  summary: 'record an error of an agent, or that one is resolved',
  fields: {
    message: given(SOME_WORDS),
    type: given(z._default(z.enum(ERROR_TYPES), 'runtime')),
    agent: given(z.optional(SOME_WORDS)),
    step: given(z.optional(ID_SCHEMA)),
    resolution: given(z.optional(SOME_WORDS)),
    resolved: given(z._default(z.boolean(), false)),
  },
  run(memory, input) {
    const { session: _, step, ...fields } = input;
    const session = meant(memory, input);
    writeFact(session, memory.stamp, worklogKind.line('error', { ...fields, step: textOf(step) }));
    const { errors } = session.log.state;
    const unresolved = errors.filter(({ resolved }) => !resolved).length;
    return { lines: 'recorded', value: { session_id: session.id, unresolved_errors: unresolved } };
  },
});

export const recordTokens = verb({
  name: 'record_tokens',
  summary: 'record the tokens that an agent has used',
  fields: {
    agent: given(z._default(SOME_WORDS, 'main')),
    input: given(COUNT),
    output: given(COUNT),
    cached: given(COUNT),
    step: given(z.optional(ID_SCHEMA)),
  },
  run(memory, input) {
    const { session: _, step, ...fields } = input;
    const session = meant(memory, input);
    writeFact(session, memory.stamp, worklogKind.line('tokens', { ...fields, step: textOf(step) }));
    const sum = session.log.state.tokens.get(fields.agent);
    return { lines: 'recorded', value: { session_id: session.id, agent: fields.agent, declared: sum } };
  },
});

function textOf(id: string | number | undefined): string | undefined {
  return id === undefined ? undefined : String(id);
}
