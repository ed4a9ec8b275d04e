import type { Memory } from '../../../memory/sessions/memory.js';
import { writeOrRefuse } from '../../../memory/sessions/write.js';
import { documentAt } from '../../../memory/workspaces/document.js';
import { UsageError } from '../../../src/errors.js';
import { word } from '../../command/word.js';

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

export const set = word({
  usage: 'set KEY=VALUE…',
  summary: `change ${SETTABLE.slice(0, 4).join(', ')}, language.documents,\n      documents.plan, …`,
  options: {},
  words: SETTABLE.length,
  run({ memory, values, words, print }) {
    if (words.length === 0) throw new UsageError(`what should be set? KEY=VALUE, with one of ${SETTABLE.join(', ')}`);
    const session = memory.which(values.session ?? null);
    const changes: Record<string, unknown> = {};
    for (const [key, text] of words.map(pairOf)) {
      const [field = '', part] = key.split('.');
      const value = saidValue(key, text, memory);
      changes[field] = part === undefined ? value : { ...(changes[field] as object), [part]: value };
    }
    writeOrRefuse(session, memory.stamp, () => [{ event: 'session_changed', ...changes }]);
    print(`set: ${words.map((text) => pairOf(text)[0]).join(', ')}`, changes);
    return 0;
  },
});

function pairOf(text: string): [string, string] {
  const [key = '', ...value] = text.split('=');
  if (SETTABLE.includes(key) && value.length > 0) return [key, value.join('=')];
  throw new UsageError(`${JSON.stringify(text)}: KEY=VALUE is expected, with one of ${SETTABLE.join(', ')}`);
}

/** Of a document, what it is now: whoever asks later sees whether it was changed. */
function saidValue(key: string, text: string, { surroundings, workspace }: Memory): unknown {
  if (key.startsWith('documents.')) return documentAt(text, surroundings.directory, workspace);
  if (key === 'workflow_mode' && !WORKFLOW_MODES.includes(text))
    throw new UsageError(`workflow_mode=${JSON.stringify(text)}: one of ${WORKFLOW_MODES.join(', ')}`);
  return text;
}
