/** The words of people and agents in the lines of a journal. A setting leaves them out (`docs/memory-reference.md`). */
import { QUESTIONS, SPEECH, STARTERS } from './agentVocabulary.js';
import { canonicalJson, contentDigest } from './digest.js';
import { type JournalRecord, textOf } from './record.js';

const SPOKEN: readonly unknown[] = ['user_prompt', 'assistant_message', 'order'];

/**
 * @param line of a journal, or an event that becomes one
 * @returns the line without words of prompts and answers, also of those between an agent and its sub-agents; the digests are still
 *   those of all words, so that calls stay different
 */
export function withoutTexts<Line extends object>(line: Line): Line {
  const record = line as JournalRecord;
  if (SPOKEN.includes(record.event)) {
    const { text: _, ...rest } = record;
    return rest as Line;
  }
  if (record.said !== undefined) {
    const { said: _, tool_output_preview: output, ...rest } = record;
    return { output_digest: contentDigest(String(output)), ...rest, tool_output_preview: '' } as unknown as Line;
  }
  const tool = textOf(record.tool_name) ?? '';
  if (![STARTERS, QUESTIONS, SPEECH].some((names) => names.has(tool))) return line;
  const { tool_input, tool_output_preview } = record;
  if (record.event === 'pre_tool_use')
    return { input_digest: contentDigest(canonicalJson(tool_input)), ...line, tool_input: {} };
  if (record.event !== 'post_tool_use') return line;
  return { output_digest: contentDigest(String(tool_output_preview)), ...line, tool_output_preview: '' };
}
