import { UsageError } from '../../src/errors.js';
import type { Memory } from '../sessions/memory.js';
import { writeOrRefuse } from '../sessions/write.js';
import { documentAt } from '../workspaces/document.js';
import { words } from './fields.js';
import { meant } from './meant.js';
import { verb } from './verb.js';

const WORKFLOW_MODES = ['standard', 'express'];
/** What a session says of itself; the part before the point is a field that has several parts. */
const SETTABLE = [
  'purpose',
  'name',
  'role',
  'framework',
  'governance_level',
  'workflow_mode',
  'execution_mode',
  'execution_backend',
  'task_complexity',
  'language.communication',
  'language.documents',
  'documents.design',
  'documents.plan',
];

export const set = verb({
  name: 'set',
  summary: `change ${SETTABLE.slice(0, 4).join(', ')}, language.documents,\ndocuments.plan, …`,
  fields: { pairs: words('KEY=VALUE…') },
  run(memory, input) {
    const { pairs } = input;
    if (pairs.length === 0) throw new UsageError(`what should be set? KEY=VALUE, with one of ${SETTABLE.join(', ')}`);
    const session = meant(memory, input);
    const changes: Record<string, unknown> = {};
    for (const [key, text] of pairs.map(pairOf)) {
      const [field = '', part] = key.split('.');
      const value = saidValue(key, text, memory);
      changes[field] = part === undefined ? value : { ...(changes[field] as object), [part]: value };
    }
    writeOrRefuse(session, memory.stamp, () => [{ event: 'session_changed', ...changes }]);
    return { lines: `set: ${pairs.map((text) => pairOf(text)[0]).join(', ')}`, value: changes };
  },
});

function pairOf(text: string): [string, string] {
  const [key = '', ...value] = text.split('=');
  if (SETTABLE.includes(key) && value.length > 0) return [key, value.join('=')];
  throw new UsageError(`${JSON.stringify(text)}: KEY=VALUE is expected, with one of ${SETTABLE.join(', ')}`);
}

/** A document is kept as it is now, so that a later look shows whether it was changed. */
function saidValue(key: string, text: string, { surroundings, workspace }: Memory): unknown {
  if (key.startsWith('documents.')) return documentAt(text, surroundings.directory, workspace);
  if (key === 'workflow_mode' && !WORKFLOW_MODES.includes(text))
    throw new UsageError(`workflow_mode=${JSON.stringify(text)}: one of ${WORKFLOW_MODES.join(', ')}`);
  return text;
}
