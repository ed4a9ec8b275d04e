// covers: memory/sessions/toolCall.ts
/** The conversation of a call is looked up once, and again when the call has written. */
import { expect, test } from '@jest/globals';
import { worklogKind } from '../../../memory/fold/rules/kind.js';
import { Memory } from '../../../memory/sessions/memory.js';
import { memoryScene } from '../scene.js';

test('a session that the call itself begins gets the conversation from then on', () => {
  const others = memoryScene().open();
  const { surroundings, places, clock, stamp } = others;
  const agent = surroundings.process;
  const call = new Memory({
    surroundings: { ...surroundings, toolCall: { agent, thread: null, id: null } },
    ...{ folder: places.root, clock, redact: stamp.redact },
  });
  expect(call.conversation).toBeNull();
  const session = others.sessions.openImplicit('ses_01K0000000000000000000000A', { workspace: others.workspace.id });
  const conversation = { provider: 'claude', conversation: 'c-1', source: 'startup', process: agent } as const;
  others.sessions.addFacts(session, [worklogKind.line('conversation', conversation)]);
  call.bindings.bind({ process: agent }, session.id);
  expect(call.conversation).toEqual({ provider: 'claude', conversation: 'c-1' });
});
