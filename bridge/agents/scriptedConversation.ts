/** The scripted agent's memory: one small file per conversation, so that "turn 3 of this conversation" can be proven. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCode } from '../../src/errno.js';
import { contentDigest } from '../../src/journal/digest.js';

const FOLDER = '.watchkeeper-scripted';
const SAFE_NAME = /^[A-Za-z0-9_-]{1,100}$/;

interface Conversation {
  readonly conversation_id: string;
  /** The runs that took part, in order. */
  readonly turns: readonly { readonly session: string; readonly run: string }[];
}

/**
 * Adds a turn. Only one run at a time may work in a directory; the lanes ensure that.
 * @param folder of the conversations; by default below the working directory
 * @returns the turn's number, from 1; an unknown conversation begins anew under its id
 */
export function addTurn(conversationId: string, session: string, run: string, folder = FOLDER): number {
  const path = join(folder, `${SAFE_NAME.test(conversationId) ? conversationId : contentDigest(conversationId)}.json`);
  const turns = [...readTurns(path), { session, run }];
  const conversation: Conversation = { conversation_id: conversationId, turns };
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${path}.new`, `${JSON.stringify(conversation, null, 2)}\n`);
  renameSync(`${path}.new`, path);
  return turns.length;
}

function readTurns(path: string): Conversation['turns'] {
  try {
    const { turns }: Conversation = JSON.parse(readFileSync(path, 'utf8'));
    return turns;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return [];
    throw error;
  }
}
