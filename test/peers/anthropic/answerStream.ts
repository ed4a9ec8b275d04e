/** Writes one assistant message, streamed or whole (https://docs.anthropic.com/en/api/messages-streaming). */
import type { ServerResponse } from 'node:http';
import type { Block } from '../modelBlocks.js';

export interface Answer {
  /** From 1; ids are made of it. */
  readonly number: number;
  readonly model: string;
  readonly inputTokens: number;
  readonly blocks: readonly Block[];
}

export const OUTPUT_TOKENS = 20;
const CHUNK_LENGTH = 20;

/** @param isBroken says every block, and does not end the message */
export function streamAnswer(response: ServerResponse, answer: Answer, { isBroken = false } = {}): void {
  response.writeHead(200, { 'content-type': 'text/event-stream', 'request-id': `req_${answer.number}` });
  const tell = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  tell('message_start', { message: { ...message(answer), content: [], stop_reason: null } });
  for (const [index, block] of answer.blocks.entries()) {
    const { start, deltas } = parts(block, blockId(answer, index));
    tell('content_block_start', { index, content_block: start });
    for (const delta of deltas) tell('content_block_delta', { index, delta });
    tell('content_block_stop', { index });
  }
  if (isBroken) return;
  const delta = { stop_reason: stopReason(answer), stop_sequence: null };
  tell('message_delta', { delta, usage: { output_tokens: OUTPUT_TOKENS } });
  tell('message_stop', {});
  response.end();
}

export function sendAnswer(response: ServerResponse, answer: Answer): void {
  const content = answer.blocks.map((block, index) =>
    block.type === 'text' ? block : { ...block, id: blockId(answer, index) },
  );
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ ...message(answer), content, stop_reason: stopReason(answer) }));
}

function message({ number, model, inputTokens }: Answer): object {
  return {
    id: `msg_${String(number).padStart(4, '0')}`,
    type: 'message',
    role: 'assistant',
    model,
    stop_sequence: null,
    usage: {
      input_tokens: inputTokens,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 0,
      output_tokens: OUTPUT_TOKENS,
    },
  };
}

function parts(block: Block, id: string): { start: object; deltas: object[] } {
  if (block.type === 'text') {
    const chunks = block.text.match(new RegExp(`.{1,${CHUNK_LENGTH}}`, 'gsu')) ?? [''];
    return { start: { type: 'text', text: '' }, deltas: chunks.map((text) => ({ type: 'text_delta', text })) };
  }
  const { name, input } = block;
  return {
    start: { type: 'tool_use', id, name, input: {} },
    deltas: [{ type: 'input_json_delta', partial_json: JSON.stringify(input) }],
  };
}

function blockId({ number }: Answer, index: number): string {
  return `toolu_${number}_${index}`;
}

function stopReason({ blocks }: Answer): string {
  return blocks.some(({ type }) => type === 'tool_use') ? 'tool_use' : 'end_turn';
}
