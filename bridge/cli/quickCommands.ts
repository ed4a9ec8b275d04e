/** The commands that need no library of the bridge but that of Redis. */
import type { Command } from '../command/command.js';
import type { QuickName } from './quickNames.js';

/** Each is loaded when it is called. */
export interface Entry {
  readonly summary: string;
  load(): Promise<{ command: Command }>;
}

export const QUICK_COMMANDS: Readonly<Record<QuickName, Entry>> = {
  enqueue: { summary: 'put a message into the queue, as if a chat had sent it', load: () => import('./enqueue.js') },
  sessions: { summary: 'list waiting, running and recently ended sessions', load: () => import('./sessions.js') },
  session: {
    summary: 'show one session: its record, its health, its final message',
    load: () => import('./session.js'),
  },
  cancel: { summary: 'end a waiting or running session for good', load: () => import('./cancel.js') },
  events: { summary: 'read the critical events, acknowledge them, archive them', load: () => import('./events.js') },
  daydream: { summary: 'write the daily review of the critical events', load: () => import('./daydream.js') },
  incidents: { summary: 'list open and recently closed incidents', load: () => import('./incidents.js') },
  assess: {
    summary: 'judge journals and transcripts offline: files, or folders of them',
    load: () => import('./assess.js'),
  },
  backtest: {
    summary: 'try thresholds on recorded runs: false alarms, delays, readings',
    load: () => import('./backtest.js'),
  },
  track: {
    summary: 'record steps, files and notes of a session, and how to go on',
    load: () => import('./track/track.js'),
  },
  work: { summary: 'list, show, begin and end sessions of agents and people', load: () => import('./work/work.js') },
  handoff: {
    summary: 'hand unfinished work over to the next worker, or take it over',
    load: () => import('./handoff/handoff.js'),
  },
  learn: {
    summary: 'see which calls fail again and again, and keep what was learned',
    load: () => import('./learn/learn.js'),
  },
  worktree: {
    summary: 'make, list and end the git worktrees of a repository',
    load: () => import('./worktree/worktree.js'),
  },
  mcp: { summary: "serve session memory's tools to agents, or call one", load: () => import('./mcp.js') },
  state: {
    summary: 'read and write the files that mirror sessions in a project',
    load: () => import('./state/state.js'),
  },
  plugin: {
    summary: 'let Claude Code and Codex record sessions in terminals',
    load: () => import('./plugin/plugin.js'),
  },
  import: { summary: 'write the journal of a session that another program ran', load: () => import('./import.js') },
};
