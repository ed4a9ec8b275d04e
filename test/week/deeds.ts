/** What the models of the week do, by the words in a prompt: a message for each that they have said since. */
import type { Deeds } from '../e2e/claudeScreen.js';
import { LASTING } from '../e2e/recorded.js';
import { type Asked, type Block, call, say } from '../peers/modelBlocks.js';

const write = (name: string, content: string) => call('Write', { file_path: `./${name}`, content });
const bash = (command: string) => call('Bash', { command, description: 'x', timeout: 600_000 });
const task = (subject: string) => call('TaskCreate', { subject, description: subject });
const mark = (taskId: string, status: string) => call('TaskUpdate', { taskId, status });
const lookAround = { description: 'Tidy the shelf', prompt: 'the INNER shelf', subagent_type: 'general-purpose' };
/** Each goes on until its agent ends, and is seen to run by the file of that name. */
const lasting = (name: string) => LASTING.replace('started', name);

export const CLAUDE_DEEDS: Deeds = {
  'what does the config do': [[say('It configures the shop.')]],
  'write the invoice module': [
    [task('Model'), task('PDF export'), task('Tests')],
    [mark('1', 'in_progress')],
    [write('invoice.ts', 'export const invoice = 1;\n')],
    [mark('1', 'completed'), mark('2', 'in_progress')],
    [say('The model is written. Shall I go on with the PDF export?')],
  ],
  'fix the login': [[write('login.ts', 'half')], [bash(lasting('login-started'))]],
  'finish what was broken off': [[write('login.ts', 'whole')], [say('The login is fixed now.')]],
  'release the shop': [[bash('touch released')], [say('The shop is released.')]],
  'run the tests': [[bash('exit 3')], [say('Two tests fail. I did not change anything.')]],
  'fix the search': [[write('search.ts', 'half')], [bash(lasting('search-started'))]],
  'tidy the house': [[call('Agent', lookAround)], [say('The house is tidy.')]],
  'the INNER shelf': [[write('shelf.ts', 'half')], [bash(lasting('shelf-started'))]],
  'where do we stand': [[say('I was told.')]],
};

const shell = (cmd: string) => call('exec_command', { cmd });
const patch = (name: string) => `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${name}\n+one\n*** End Patch\nEOF`;
const plan = (first: string, second: string) => {
  const steps = [
    { step: 'Write the cart', status: first },
    { step: 'Write its tests', status: second },
  ];
  return call('update_plan', { plan: steps });
};
const CODEX_DEEDS: Readonly<Record<string, readonly (readonly Block[])[]>> = {
  'write the basket': [[shell(patch('basket.txt'))], [say('The basket is written.')]],
  'write the cart': [[plan('completed', 'in_progress')], [shell(patch('cart.txt'))], [shell(lasting('cart-started'))]],
  'where do we stand': [[say('I was told.')]],
};

export function codexDeed({ texts, results }: Asked): readonly Block[] {
  const prompt = Object.keys(CODEX_DEEDS).find((ours) => texts.some((text) => text.includes(ours)));
  return CODEX_DEEDS[prompt ?? '']?.[results] ?? [say('Nothing more.')];
}
