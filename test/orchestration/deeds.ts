/** What the models of the proof do: an orchestrator in Claude Code with two sub-agents, and Codex, which takes over. */
import type { Deeds } from '../e2e/claudeScreen.js';
import { LASTING } from '../e2e/recorded.js';
import { type MessagesRequest, userTexts } from '../peers/anthropic/messages.js';
import { type Asked, type Block, call, say } from '../peers/modelBlocks.js';

/** How Claude Code names a tool of a plugin's server. */
export const CLAUDE_PREFIX = 'mcp__plugin_watchkeeper_watchkeeper__';
const CODEX_NAMESPACE = 'mcp__watchkeeper';

const tool = (name: string, input: object) => call(`${CLAUDE_PREFIX}${name}`, input);
const write = (name: string, content: string) => call('Write', { file_path: `./${name}`, content });
const agent = (prompt: string) =>
  call('Agent', {
    description: prompt,
    prompt: `do the ${prompt}`,
    subagent_type: 'general-purpose',
  });

const PHASES = [
  { id: 1, name: 'Design the shop', agents: ['architect'], files: ['design.md'] },
  { id: 2, name: 'Write the API', agents: ['api-coder'], parallel: true, blocked_by: [1], files: ['api.ts'] },
  { id: 3, name: 'Write the page', agents: ['page-coder'], parallel: true, blocked_by: [1], files: ['page.ts'] },
  { id: 4, name: 'Write the manual', agents: ['writer'], blocked_by: [2, 3], files: ['manual.md'] },
];
const CONTEXT = {
  key_interfaces_introduced: ['GET /cart'],
  patterns_established: [],
  integration_points: ['page.ts calls api.ts'],
  assumptions: ['prices are in cents'],
  warnings: [],
};
const FAILURE = { type: 'validation', message: 'the page has no button', agent: 'page-coder' };
export const ORCHESTRATE = 'orchestrate the shop';

/** Those of sub-agents first: what they are told of their session has the orchestrator's prompt in it. */
const CLAUDE_DEEDS: Deeds = {
  'do the INNER api': [[write('api.ts', 'export const cart = [];\n')], [say('The API is written.')]],
  'do the INNER page': [[write('page.ts', '<html>\n')], [say('The page is written.')]],
  'do the INNER button': [[write('page.ts', '<html><button>\n')], [say('The button is there.')]],
  [ORCHESTRATE]: [
    [tool('get_session_status', {})],
    [tool('create_session', { task: 'Build the shop', phases: PHASES, execution_mode: 'parallel' })],
    [tool('transition_phase', { next_phase_id: 1, agent: 'architect' })],
    [write('design.md', '# The shop\n')],
    [
      tool('transition_phase', {
        ...{ completed_phase_id: 1, files_created: ['design.md'], downstream_context: CONTEXT },
        next_phase_ids: [2, 3],
      }),
    ],
    [agent('INNER api'), agent('INNER page')],
    [
      tool('transition_phase', {
        ...{
          completed_phase_id: 2,
          files_created: ['api.ts'],
          downstream_context: CONTEXT,
          output: 'The API is written.',
        },
        validation: { passed: true, details: '3 tests' },
        token_usage: { agent: 'api-coder', input: 1_000_000, output: 1_000_000 },
      }),
    ],
    [tool('transition_phase', { failed_phase_id: 3, error: FAILURE, next_phase_id: 3 })],
    [agent('INNER button')],
    [
      tool('transition_phase', {
        ...{ completed_phase_id: '3', files_created: ['page.ts', 'never.ts'], no_context_reason: 'a page' },
        next_phase_id: 4,
      }),
    ],
    [write('manual.md', 'half')],
    [call('Bash', { command: LASTING.replace('started', 'manual-started'), description: 'x', timeout: 600_000 })],
  ],
};

/** Sub-agents work in the background: before these messages, so many of them have reported. */
const REPORTS: Readonly<Record<number, number>> = { 6: 2, 9: 3 };

/** @returns the next message of the model that a prompt in the request leads to; null if none is in it, or it is none of a conversation */
export function deedIn(request: MessagesRequest): readonly Block[] | null {
  if ((request.tools ?? []).length === 0) return null;
  const prompt = Object.keys(CLAUDE_DEEDS).find((ours) => userTexts(request).some((text) => text.includes(ours)));
  if (prompt === undefined) return null;
  const answers = request.messages
    .filter(({ role }) => role === 'assistant')
    .map(({ content }) => JSON.stringify(content));
  const said = answers.filter((content) => content.includes('"tool_use"')).length;
  const reports = JSON.stringify(request.messages).split('<task-notification>').length - 1;
  if (prompt === ORCHESTRATE && reports < (REPORTS[said] ?? 0)) return [say('I wait for the agents.')];
  return CLAUDE_DEEDS[prompt]?.[said] ?? [say('Nothing more.')];
}

export const TAKE_OVER = 'take over the shop';
const finish = 'echo whole > manual.md; watchkeeper track log x; echo track exits with $?';
const tools = (name: string, input: object) => call(`${CODEX_NAMESPACE}.${name}`, input);

const CODEX_DEEDS: readonly (readonly Block[])[] = [
  [tools('get_session_status', {})],
  [tools('resume_session', { decision: 'retry', phase_id: 4 })],
  [call('exec_command', { cmd: finish })],
  [
    tools('transition_phase', {
      completed_phase_id: 4,
      files_modified: ['manual.md'],
      no_context_reason: 'the last one',
    }),
  ],
  [tools('list_sessions', { archived: true })],
  [say('The shop is done.')],
];

export function codexDeed({ texts, results }: Asked): readonly Block[] {
  const isAsked = texts.some((text) => text.includes(TAKE_OVER));
  return (isAsked ? CODEX_DEEDS[results] : undefined) ?? [say('Nothing more.')];
}
