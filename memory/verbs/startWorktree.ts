/** `worktree start`: shows what would be made, and makes it once that is agreed to. */
import * as z from 'zod/mini';
import { UsageError } from '../../src/errors.js';
import { removeOldIn } from '../worktrees/kept.js';
import { TYPES } from '../worktrees/naming.js';
import { fetchRemotes, type Plan, planWorktree, startWorktree } from '../worktrees/start.js';
import { flag, neededOption, neededWord, option } from './fields.js';
import { unanswered } from './unanswered.js';
import { type Door, type Outcome, verb } from './verb.js';
import { placeOf } from './worktrees.js';

const TYPE = z.enum(TYPES);

export const start = verb({
  name: 'start',
  summary:
    'makes a worktree and its branch TYPE/NAME at the default branch, or REF;\nonly shows them without --yes. TYPE: feature, fix, refactor, docs, chore',
  fields: {
    name: neededWord('NAME', 'start NAME --type TYPE: what is it called?'),
    type: neededOption('--type TYPE', `--type is missing: ${TYPES.join(', ')}`),
    from: option('[--from REF|--branch BRANCH]'),
    branch: option(''),
    fetch: flag('[--fetch]'),
    yes: flag('[--yes]'),
  },
  async run(memory, { name, type, from = null, branch = null, fetch, yes }, door): Promise<Outcome> {
    const known = TYPE.safeParse(type);
    if (!known.success) throw new UsageError(`--type is one of ${TYPES.join(', ')}, not ${JSON.stringify(type)}`);
    if (from !== null && branch !== null)
      throw new UsageError('--from and --branch exclude each other: give one of them');
    const place = placeOf(memory.surroundings);
    const { variables } = memory.surroundings;
    const { redact } = memory.stamp;
    const unfetched = fetch ? fetchRemotes(place, variables) : null;
    if (unfetched !== null)
      return { verdict: 'refused', value: null, lines: [`git fetch failed: ${redact(unfetched)}`, 'nothing was made'] };
    const plan = planWorktree(place, { name, type: known.data, from, branch }, variables);
    if (plan === null) throw unanswered(place, variables);
    if ('faults' in plan) return { verdict: 'refused', value: null, lines: plan.faults.map(redact) };
    const shown = planWords(plan).map(redact);
    const agreed = yes || ((await door.agrees?.(shown, 'make it?')) ?? null);
    if (agreed === null)
      return { verdict: 'refused', value: null, lines: [...shown, 'nothing was made: add --yes to make it'] };
    if (!agreed) return { verdict: 'refused', value: null, lines: 'nothing was made' };
    const made = startWorktree(place, plan, variables);
    const { is_made, fault, not_copied, port } = made;
    if (!is_made) return { verdict: 'refused', value: null, lines: ['git did not make it:', redact(fault ?? '')] };
    const setup =
      plan.setup === null || fault !== null ? null : await runSetup(door, plan.setup, plan, place.home, port);
    const old = removeOldIn(place, memory.settings.removed_days, memory.clock.now(), variables);
    const asides = [
      ...(old.length === 0
        ? []
        : [`kept for more than ${memory.settings.removed_days} days, and gone: ${old.join(', ')}`]),
      ...(fault === null ? [] : [`git made it, but failed afterwards: ${redact(fault)}`]),
      ...not_copied.map((words) => redact(`not copied: ${words}`)),
      ...(setup === null ? [] : [redact(setup)]),
    ];
    const isFine = fault === null && setup === null;
    return {
      value: { ...plan, port, not_copied, fault: fault ?? setup },
      lines: [...(yes ? shown : []), `made: cd ${plan.path}`],
      asides,
      ...(!isFine && { verdict: 'found' as const }),
    };
  },
});

function planWords({ branch, is_new_branch, path, base, files, setup }: Plan): string[] {
  const behind = base.behind === null || base.behind === 0 ? '' : `; the local one is ${base.behind} behind`;
  return [
    is_new_branch ? `branch ${branch}, new, at ${base.name}${behind}` : `branch ${branch}, as it is`,
    `folder ${path}`,
    ...(files.length === 0 ? [] : [`copies from the main checkout: ${files.join(', ')}`]),
    ...(setup === null ? [] : [`setup: ${setup}`]),
  ];
}

/** @returns why the setup failed; null if it did not */
async function runSetup(
  { runSetup: run }: Door,
  command: string,
  { path }: Plan,
  source: string,
  port: number,
): Promise<string | null> {
  const how = `run it yourself: cd ${path} && ${command}`;
  if (run === undefined) return `no setup was run: ${how}`;
  const variables = { WATCHKEEPER_WORKTREE: path, WATCHKEEPER_SOURCE: source, WATCHKEEPER_PORT: String(port) };
  const fault = await run({ command, directory: path, variables });
  return fault === null ? null : `the setup failed: ${fault}\nThe worktree stays; ${how}`;
}
