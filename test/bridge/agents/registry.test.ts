import { describe, expect, test } from '@jest/globals';
import { createAgents } from '../../../bridge/agents/registry.js';
import { DEFAULT_ACTIONS } from '../../../src/config/projects.js';
import { DEFAULT_THRESHOLDS } from '../../../src/config/rules.js';
import type { Project } from '../../../src/config/settings.js';

function project(key: string, { kind, ...options }: { kind: string } & Record<string, unknown>): Project {
  return {
    key,
    directory: '/tmp',
    places: [],
    senders: [],
    repository: null,
    publicDetail: 'names_only',
    host: null,
    isServedHere: true,
    reviveAfterHostLoss: true,
    isolation: null,
    readable: [],
    agent: { kind, options: { ...options, baseFolder: '/tmp' } },
    thresholds: DEFAULT_THRESHOLDS,
    actions: DEFAULT_ACTIONS,
  };
}

describe('the agents of projects', () => {
  test('are created by their kinds', () => {
    const agents = createAgents([
      project('a', { kind: 'scripted' }),
      project('b', { kind: 'claude', model: 'opus', maxTurns: 3, allowedTools: ['Read'] }),
      project('c', { kind: 'command', command: ['codex', 'exec'], output: 'codex' }),
    ]);
    expect([...agents].map(([key, { kind }]) => [key, kind])).toEqual([
      ['a', 'scripted'],
      ['b', 'claude'],
      ['c', 'command'],
    ]);
  });

  test('that cannot be created are reported all at once, each with the allowed values', () => {
    const make = () =>
      createAgents([
        project('a', { kind: 'cloude' }),
        project('b', { kind: 'claude', permissionMode: 'plan', alowedTools: [] }),
        project('c', { kind: 'command', resume: ['x'] }),
        project('d', { kind: 'toString' }),
      ]);
    for (const words of [
      'projects.a.agent.kind: no agent "cloude"; did you mean "claude"? (known: scripted, claude, command)',
      'projects.b.agent.permissionMode: must be one of default, acceptEdits, bypassPermissions',
      'projects.b.agent: unknown key "alowedTools"; did you mean "allowedTools"?',
      'projects.c.agent.command: must be a list: the program and its arguments, each by itself',
      'projects.c.agent.resume: must have {conversation} in it',
      'projects.d.agent.kind: no agent "toString"',
    ]) {
      expect(make).toThrow(words);
    }
  });
});
