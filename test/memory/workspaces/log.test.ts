import { expect, test } from '@jest/globals';
import { workspaceKind } from '../../../memory/workspaces/log.js';

/** @returns the state after lines whose ids are their places, `l0`, `l1`, … */
function after(...lines: { readonly event: string; readonly [field: string]: unknown }[]) {
  const state = workspaceKind.begin();
  const refusals = lines.map((line, index) =>
    workspaceKind.apply(state, { v: 1, id: `l${index}`, timestamp: '2026-01-01T00:00:00Z', origin: 'person', ...line }),
  );
  return {
    holder: state.holder?.session_id ?? null,
    refusals: refusals.map((refusal) => refusal?.code ?? null),
    state,
  };
}
const claimed = (session_id: string) => ({ event: 'claimed', session_id });

test('one session holds a workspace, and may claim it again', () => {
  expect(after(claimed('a'), claimed('b'), claimed('a'))).toMatchObject({
    holder: 'a',
    refusals: [null, 'held', null],
  });
});

test('a release names the claim that it ends: a late one does not take a newer claim', () => {
  expect(after(claimed('a'), { event: 'released', claim: 'l0' }, claimed('b')).holder).toBe('b');
  expect(after(claimed('a'), claimed('a'), { event: 'released', claim: 'l0' }).holder).toBe('a');
});

test('notes, sessions and the root are kept; damaged lines are refused, unknown ones ignored', () => {
  const { state, refusals } = after(
    { event: 'workspace', root: '/w', kind: 'git' },
    { event: 'session', session_id: 'a' },
    { event: 'note', text: 'pinned', priority: 'critical' },
    { event: 'claimed' },
    { event: 'of tomorrow' },
  );
  expect(refusals).toEqual([null, null, null, 'malformed', null]);
  expect(state).toMatchObject({
    root: '/w',
    sessions: new Set(['a']),
    notes: [{ text: 'pinned', priority: 'critical' }],
  });
});

test('the last mirror that was named counts, and null takes it away', () => {
  const mirror = (state_dir: unknown) => ({ event: 'mirror', state_dir });
  expect(after(mirror('a'), mirror('b'), mirror(7))).toMatchObject({
    state: { mirror: 'b' },
    refusals: [null, null, 'malformed'],
  });
  expect(after(mirror('a'), mirror(null)).state.mirror).toBeNull();
});
