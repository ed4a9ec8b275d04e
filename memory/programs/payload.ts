/** The used part of a program's payload to its hooks. Its shape is not guaranteed, so each field is looked at alone. */
import { basename, isAbsolute } from 'node:path';
import { senderOf } from '../../src/agents/programs.js';
import { canonicalJson, contentDigest } from '../../src/journal/digest.js';
import { textOf } from '../../src/journal/record.js';
import { parseObject } from '../../src/json.js';

/** Nothing that is used is longer; payloads of tools, which are, come to no hook of ours. */
export const LARGEST_PAYLOAD_BYTES = 1024 * 1024;

export interface Payload {
  readonly event: string;
  readonly provider: string;
  readonly conversation: string;
  readonly transcript: string | null;
  /** Where the agent works now; null if it does not say. */
  readonly directory: string | null;
  /** The reason of a start. */
  readonly source: string | null;
  /** The reason of an end. */
  readonly reason: string | null;
  /** In a permission dialog: the tool that is to be called, and a digest of its input. */
  readonly tool: string | null;
  readonly inputDigest: string | null;
  /** The sub-agent that begins, or that asks. */
  readonly subAgent: string | null;
}

/**
 * @param agent the name of the program that sends it; null if it is not known
 * @returns null if it is none, or names no event or no conversation
 */
export function parsePayload(text: string, agent: string | null): Payload | null {
  const fields = parseObject<Record<string, unknown>>(text);
  const event = textOf(fields?.hook_event_name);
  const conversation = textOf(fields?.session_id);
  if (fields === null || event === null || conversation === null) return null;
  const transcript = absoluteOf(fields.transcript_path);
  return {
    event,
    provider: senderOf(agent, transcript && basename(transcript)).name,
    conversation,
    transcript,
    directory: absoluteOf(fields.cwd),
    source: textOf(fields.source),
    reason: textOf(fields.reason),
    tool: textOf(fields.tool_name),
    inputDigest: fields.tool_input === undefined ? null : contentDigest(canonicalJson(fields.tool_input)),
    subAgent: textOf(fields.agent_id),
  };
}

function absoluteOf(value: unknown): string | null {
  const path = textOf(value);
  return path !== null && isAbsolute(path) && !path.includes('\0') ? path : null;
}
