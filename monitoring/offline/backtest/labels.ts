/**
 * The known truth about recorded runs: a JSON object, from a file (as `assess` names it) or a session id to a label. `healthy`
 * and `committed` mean that nothing was wrong; the name of a rule means that it was right to accuse, and `{"rule", "since"}`
 * also gives since when. Any other label means nothing.
 */
import { parseJsonText } from '../../../src/config/jsonText.js';
import { UsageError } from '../../../src/errors.js';
import { instantOf } from '../../../src/journal/normalise.js';
import { isObject } from '../../../src/json.js';
import { MEASURED_RULES, type MeasuredRule } from './readings.js';

export type Label =
  | { readonly kind: 'healthy' }
  | { readonly kind: 'faulty'; readonly rule: MeasuredRule; readonly since: number | null };

const HEALTHY: ReadonlySet<unknown> = new Set(['healthy', 'committed']);

export class Labels {
  readonly #labels = new Map<string, Label>();
  readonly #unused = new Set<string>();
  readonly #meaningless = new Set<string>();

  /** @param path for the error message @throws UsageError for a file that is no object of labels */
  static read(path: string, text: string): Labels {
    const parsed = parseJsonText(text);
    if ('fault' in parsed) throw new UsageError(`--labels: ${path} ${parsed.fault}`);
    const { value } = parsed;
    if (!isObject(value))
      throw new UsageError(`--labels: ${path} must hold an object: {"FILE or session id": "healthy", …}`);
    const labels = new Labels();
    for (const [name, given] of Object.entries(value)) labels.#take(path, name, given);
    return labels;
  }

  of(file: string, sessionId: string): Label | null {
    const name = [file, sessionId].find((each) => this.#unused.delete(each) || this.#labels.has(each));
    return name === undefined ? null : (this.#labels.get(name) ?? null);
  }

  /** Names for which no run was found, once all runs were looked up. */
  get unused(): readonly string[] {
    return [...this.#unused];
  }

  /** Labels that mean nothing to a backtest. */
  get meaningless(): readonly string[] {
    return [...this.#meaningless];
  }

  #take(path: string, name: string, given: unknown): void {
    this.#unused.add(name);
    const { rule, since }: { readonly rule?: unknown; readonly since?: unknown } =
      typeof given === 'object' && given !== null ? given : { rule: given };
    if (HEALTHY.has(rule)) this.#labels.set(name, { kind: 'healthy' });
    const measured = MEASURED_RULES.find((each) => each === rule);
    if (measured !== undefined) {
      const instant = instantOf(since);
      if (since !== undefined && instant === null)
        throw new UsageError(
          `--labels: ${path}: the "since" of ${JSON.stringify(name)} is not an instant; write it as 2026-02-05T10:00:00Z`,
        );
      this.#labels.set(name, { kind: 'faulty', rule: measured, since: instant });
    } else if (!HEALTHY.has(rule)) this.#meaningless.add(typeof rule === 'string' ? rule : JSON.stringify(given));
  }
}
