/** The report of a program that one of its conversations begins or resumes. */
import type { ProcessIdentity } from '../../src/host/identity.js';
import type { BoundConversation } from '../sessions/bindings.js';
import type { ConversationSource } from '../words.js';

export interface Launch extends BoundConversation {
  readonly source: ConversationSource;
  /** Null if it is where the program keeps its transcripts. */
  readonly transcript: string | null;
  /** The process of the program. Null if it is unknown */
  readonly agent: ProcessIdentity | null;
  /** The conversation whose shell started the program. Null if a person did */
  readonly launchedIn: BoundConversation | null;
}
