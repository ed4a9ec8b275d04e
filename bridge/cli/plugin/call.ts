/** A call of `watchkeeper plugin`, with its options read. */
import type { Places } from '../../../memory/home/places.js';
import type { CommandContext } from '../../command/command.js';
import type { PluginAgent } from '../../plugin/agent.js';

export interface PluginCall {
  readonly context: CommandContext;
  readonly places: Places;
  /** Those that `--agent` names, else those on PATH. */
  readonly agents: readonly PluginAgent[];
  readonly isOfOne: boolean;
  readonly isPrinted: boolean;
  /** Prints lines for a person, or the value if `--json` was given. */
  print(lines: readonly string[], value: unknown): void;
}
