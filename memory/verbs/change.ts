/** Changes what a session declares of itself, field by field. */
import * as z from 'zod/mini';
import { UsageError } from '../../src/errors.js';
import { type WorklogLine, worklogKind } from '../fold/rules/kind.js';
import type { Viewer } from '../sessions/views.js';
import { writeOrRefuse } from '../sessions/write.js';
import { documentAt } from '../workspaces/document.js';
import { given, type Input, SOME_WORDS } from './fields.js';
import { meant } from './meant.js';
import { verb } from './verb.js';

const TEXT = z.optional(SOME_WORDS);

/** The fields that a session declares of itself. */
export const CHANGES = {
  purpose: given(TEXT),
  name: given(TEXT),
  workflow_mode: given(z.optional(z.enum(['standard', 'express']))),
  execution_mode: given(TEXT),
  execution_backend: given(TEXT),
  task_complexity: given(TEXT),
  design_document: given(TEXT),
  implementation_plan: given(TEXT),
  role: given(TEXT),
  governance_level: given(TEXT),
  framework: given(TEXT),
};

export const changeSession = verb({
  name: 'update_session',
  summary: 'change the purpose, the name, the documents and the settings of a session',
  fields: CHANGES,
  run(memory, input) {
    const { session: _, ...given } = input;
    const updated = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]));
    if (updated.length === 0) throw new UsageError('what should be changed? Give at least one field');
    const change = changeOf(memory, given);
    const session = meant(memory, input);
    writeOrRefuse(session, memory.stamp, () => [change]);
    return { lines: `changed: ${updated.join(', ')}`, value: { session_id: session.id, updated_fields: updated } };
  },
});

/** @throws UsageError if a document cannot be read */
export function changeOf(
  { surroundings, workspace }: Viewer,
  { design_document: design, implementation_plan: plan, ...words }: Omit<Input<typeof CHANGES>, 'session'>,
): WorklogLine {
  const document = (path: string) => documentAt(path, surroundings.directory, workspace);
  const documents = {
    ...(design !== undefined && { design: document(design) }),
    ...(plan !== undefined && { plan: document(plan) }),
  };
  return worklogKind.line('session_changed', {
    ...words,
    ...(Object.keys(documents).length > 0 && { documents }),
  });
}
