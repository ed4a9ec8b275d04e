import { UsageError } from '../../src/errors.js';
import { worklogKind } from '../fold/rules/kind.js';
import type { Settings } from '../fold/worklog.js';
import type { Viewer } from '../sessions/views.js';
import { writeOrRefuse } from '../sessions/write.js';
import { documentAt } from '../workspaces/document.js';
import { words } from './fields.js';
import { meant } from './meant.js';
import { verb } from './verb.js';

const WORKFLOW_MODES = ['standard', 'express'];
/** The keys that `set` takes; a key with a dot names one part of a field. */
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
] as const;
type Settable = (typeof SETTABLE)[number];
type Changes = Settings & { purpose?: string; name?: string };

export const set = verb({
  name: 'set',
  summary: `change ${SETTABLE.slice(0, 4).join(', ')}, language.documents,\ndocuments.plan, …`,
  fields: { pairs: words('KEY=VALUE…') },
  run(memory, input) {
    const { pairs } = input;
    if (pairs.length === 0) throw new UsageError(`what should be set? KEY=VALUE, with one of ${SETTABLE.join(', ')}`);
    const session = meant(memory, input);
    const changes: Changes = {};
    for (const [key, text] of pairs.map(pairOf)) change(changes, key, text, memory);
    writeOrRefuse(session, memory.stamp, () => [worklogKind.line('session_changed', changes)]);
    return { lines: `set: ${pairs.map((text) => pairOf(text)[0]).join(', ')}`, value: changes };
  },
});

function pairOf(text: string): [Settable, string] {
  const [name, ...value] = text.split('=');
  const key = SETTABLE.find((known) => known === name);
  if (key !== undefined && value.length > 0) return [key, value.join('=')];
  throw new UsageError(`${JSON.stringify(text)}: KEY=VALUE is expected, with one of ${SETTABLE.join(', ')}`);
}

/** A document is kept as it is now, so that a later look shows whether it was changed. */
function change(changes: Changes, key: Settable, text: string, { surroundings, workspace }: Viewer): void {
  const document = () => documentAt(text, surroundings.directory, workspace);
  if (key === 'purpose' && text.trim() === '') throw new UsageError('purpose: must not be empty');
  if (key === 'workflow_mode' && !WORKFLOW_MODES.includes(text))
    throw new UsageError(`workflow_mode=${JSON.stringify(text)}: one of ${WORKFLOW_MODES.join(', ')}`);
  if (key === 'documents.design') changes.documents = { ...changes.documents, design: document() };
  else if (key === 'documents.plan') changes.documents = { ...changes.documents, plan: document() };
  else if (key === 'language.communication') changes.language = { ...changes.language, communication: text };
  else if (key === 'language.documents') changes.language = { ...changes.language, documents: text };
  else changes[key] = text;
}
