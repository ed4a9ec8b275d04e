/** What a program says when one of its conversations begins or goes on. */
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { BoundConversation } from '../sessions/bindings.js';
import type { ConversationSource } from '../words.js';

export interface Launch extends BoundConversation {
  readonly source: ConversationSource;
  /** Null: it is found where the program keeps its transcripts. */
  readonly transcript: string | null;
  /** The program; null: it is not known. */
  readonly agent: ProcessIdentity | null;
  /** The conversation in whose shell the program was started; null: a person has started it. */
  readonly launchedIn: BoundConversation | null;
}
