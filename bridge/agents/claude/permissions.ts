/** A call that no rule allows is denied at once: the agent reads what it can do instead, the person what was denied. */
import { subjectOf } from '../../../src/journal/agentVocabulary.js';
import { redactShapes } from '../../../src/log/redact.js';
import { shorten } from '../../../src/log/shorten.js';
import type { ProtocolLine } from '../program/protocol.js';
import type { CanUseTool } from './sdk.js';

/** Its only purpose is a person's answer, so no rule can make it useful here. */
const QUESTION_TOOL = 'AskUserQuestion';
const LONGEST_SUBJECT = 120;
const MOST_SHOWN = 5;

export class Denials {
  readonly #write: (line: ProtocolLine) => void;
  readonly #denied = new Set<string>();

  constructor(write: (line: ProtocolLine) => void) {
    this.#write = write;
  }

  /** Called for every call that neither the permission mode nor a rule decides. */
  readonly canUseTool: CanUseTool = async (tool, input, { decisionReason, requiresUserInteraction }) => {
    if (tool === QUESTION_TOOL || requiresUserInteraction) {
      this.#write({ event: 'note', text: `The agent wanted to ask, but nobody can answer while it works: ${tool}` });
      const message = `Nobody can answer ${tool} while you work. Decide by yourself, and put the question into your answer.`;
      return { behavior: 'deny', message };
    }
    const call = describeCall(tool, input);
    this.note(call, 'no rule of this project allows it');
    const reason = decisionReason === undefined ? '' : ` (${decisionReason})`;
    const message = `Denied: no rule of this project allows ${call}${reason}. Nobody can approve it while you work: find another way, or say in your answer what you could not do.`;
    return { behavior: 'deny', message };
  };

  note(call: string, reason: string): void {
    this.#denied.add(call);
    this.#write({ event: 'note', text: `Denied: ${call} (${reason})` });
  }

  /** @returns the answer with the denied calls below it, because the progress message is gone by then */
  addTo(answer: string): string {
    if (this.#denied.size === 0) return answer;
    const shown = [...this.#denied].slice(0, MOST_SHOWN);
    const more = this.#denied.size - shown.length;
    const list = shown.map((call) => `- ${call}`).join('\n');
    return `${answer}\n\nDenied, because no rule of this project allows it:\n${list}${more > 0 ? `\n- and ${more} more` : ''}`;
  }
}

function describeCall(tool: string, input: Readonly<Record<string, unknown>>): string {
  const subject = subjectOf(input);
  if (subject === null) return tool;
  const line = redactShapes(subject).replace(/\s+/g, ' ').trim();
  return `${tool}: ${shorten(line, LONGEST_SUBJECT)}`;
}
