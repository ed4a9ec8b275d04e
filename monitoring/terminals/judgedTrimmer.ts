/** Drops all text: the verdict does not need it, and a watcher holds thousands of transcripts. */
import { trimEvent, trimItem } from '../../src/journal/lineOf.js';
import type { JournalEvent } from '../../src/journal/schema.js';
import type { Redact } from '../../src/log/redact.js';
import type { Trimmer } from '../../src/transcripts/draft/trimmer.js';
import { isPolling } from '../verdict/timeline/polling.js';

/** Keeps digests in the place of inputs and outputs, and whether a call polls, which its input shows. */
export function judgedTrimmer(redact: Redact): Trimmer {
  const item = (text: string) => trimItem(text, redact);
  return { event: (event) => withoutContent(trimEvent(event, redact)), item, id: item };
}

function withoutContent(event: JournalEvent): JournalEvent {
  switch (event.event) {
    case 'pre_tool_use':
      return {
        ...event,
        tool_input: {},
        ...(isPolling(event.tool_name, event.tool_input) && { polling: true }),
      };
    case 'post_tool_use': {
      const { said: _, ...result } = event;
      return { ...result, tool_output_preview: '' };
    }
    case 'user_prompt':
    case 'order':
    case 'assistant_message': {
      const { text: _, ...words } = event;
      return words;
    }
    case 'plan':
      return { ...event, items: [] };
    default:
      return event;
  }
}
