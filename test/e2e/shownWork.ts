/** What `watchkeeper work show --json` answers for a bridge's session, and how it is printed beside what a model's server saw. */
import type { BridgeScene } from './bridgeScene.js';

interface Tokens {
  readonly input: number;
  readonly output: number;
}

export interface ShownWork {
  readonly purpose: string;
  readonly observed: string;
  readonly steps: readonly { readonly title: string; readonly status: string }[];
  readonly files: Readonly<Record<string, { readonly change: string; readonly from: string | null }>>;
  readonly errors: readonly { readonly tool: string; readonly outcome: string }[];
  readonly agents: readonly { readonly id: string; readonly depth: number; readonly open: boolean }[];
  readonly tokens: { readonly total: Tokens; readonly by_agent: Readonly<Record<string, Tokens>> };
  readonly conversations: readonly { readonly provider: string; readonly id: string; readonly source: string }[];
}

export async function workShown(scene: BridgeScene, session: string): Promise<ShownWork> {
  const { stdout } = await scene.run(['work', 'show', session, '--dir', scene.logs, '--json']);
  return JSON.parse(stdout) as ShownWork;
}

/** @returns each path with its change, or where it was renamed from */
export function filesOf({ files }: ShownWork): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([path, { change, from }]) => [path, from === null ? change : `from ${from}`]),
  );
}

/** Prints the answer beside what the server counted, one fact a line. */
export function printBeside(agent: string, work: ShownWork, server: Readonly<Record<string, unknown>>): void {
  const shown: Readonly<Record<string, unknown>> = {
    steps: work.steps.map(({ title, status }) => `${title}: ${status}`),
    files: filesOf(work),
    errors: work.errors.map(({ tool, outcome }) => `${tool} ${outcome}`),
    depths: work.agents.map(({ depth }) => depth),
    'tokens by agent': tokensOf(work),
  };
  const lines = Object.entries(shown).map(([name, value]) => {
    const beside = name in server ? `\n    the server: ${JSON.stringify(server[name])}` : '';
    return `  ${name}: ${JSON.stringify(value)}${beside}`;
  });
  process.stdout.write(`${agent}, as \`work show\` has it:\n${lines.join('\n')}\n`);
}

/** @returns input and output of each agent, the most input first */
export function tokensOf({ tokens: { by_agent } }: ShownWork): [number, number][] {
  return inOrder(Object.values(by_agent));
}

export function inOrder(tokens: readonly Tokens[]): [number, number][] {
  return tokens.map(({ input, output }): [number, number] => [input, output]).sort(([left], [right]) => right - left);
}
