/** What is printed of rounds, and of all of them. */
import { renderTable } from '../../bridge/command/table.js';
import { type Fault, POINTS, type StoreLoss } from './plan.js';
import type { RoundResult, SceneResult } from './records.js';

export function roundLine({
  round,
  plan,
  fell,
  effective,
  sinkFaultsUsed,
  fellAfterMs,
  tookMs,
  unended,
}: RoundResult): string {
  const seconds = [fellAfterMs, tookMs].map((ms) => (ms / 1_000).toFixed(1));
  const hit = effective ? 'hit' : fell ? 'hit nothing' : 'did not fall';
  const lost = unended.length === 0 ? '' : `, WITHOUT AN END: ${unended.join(', ')}`;
  return `round ${round}: ${describeFault(plan.fault)} ${hit}, sink faults ${sinkFaultsUsed}/${plan.sinkFaults.length}, after ${seconds[0]} s, over after ${seconds[1]} s${lost}`;
}

export function summary(scenes: readonly SceneResult[]): string {
  const rounds = scenes.flatMap((scene) => scene.rounds);
  const effective = rounds.filter((round) => round.effective);
  const count = (what: (round: RoundResult) => string | null) => {
    const counts = new Map<string, number>();
    for (const round of effective) {
      const name = what(round);
      if (name !== null) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    return counts;
  };
  const points = count(({ plan }) => (plan.fault.kind === 'failpoint' ? plan.fault.name : null));
  const others = count(({ plan }) => (plan.fault.kind === 'failpoint' ? null : describeFault(plan.fault)));
  const violations = scenes.flatMap((scene) => scene.violations);
  const seconds = scenes.reduce((sum, { tookMs }) => sum + tookMs, 0) / 1_000;
  const hits = POINTS.map((name) => ({ name, count: points.get(name) ?? 0 }));
  const least = hits.reduce((rarest, each) => (each.count < rarest.count ? each : rarest));
  const rows = [
    ...hits.map(({ name, count: hit }) => [name, String(hit)]),
    ...[...others].map(([name, hits]) => [name, String(hits)]),
  ];
  return [
    renderTable(['FAULT', 'HITS'], rows),
    `${effective.length} effective rounds of ${rounds.length}, in ${scenes.length} scenes, ${Math.round(seconds)} s; violations: ${violations.length}`,
    `the failpoint that was hit least: ${least.name}, ${least.count} times`,
    `incidents still open at the end of their scene, for their report is tried again later: ${scenes.reduce((sum, { openIncidents }) => sum + openIncidents, 0)}`,
  ].join('\n');
}

/** Every failpoint, whether it tripped, and what was found of its scene. */
export function failpointTable(scenes: readonly SceneResult[]): string {
  const rows = scenes.flatMap(({ scene, rounds, violations }) =>
    rounds.map(({ plan, fell, effective, unended, tookMs }) => [
      plan.fault.kind === 'failpoint' ? plan.fault.name : '-',
      fell ? 'killed' : 'NOT REACHED',
      effective ? 'yes' : 'no',
      unended.length === 0 ? 'every message ended' : `without an end: ${unended.join(', ')}`,
      `${(tookMs / 1_000).toFixed(1)} s`,
      violations.length === 0 ? 'all hold' : `${scene}: ${violations.length} VIOLATIONS`,
    ]),
  );
  const violations = scenes.flatMap((scene) => scene.violations.map((each) => `${scene.scene}: ${each}`));
  return [
    renderTable(['FAILPOINT', 'SIGKILL', 'AT STAKE', 'MESSAGES', 'TOOK', 'INVARIANTS'], rows),
    ...violations,
  ].join('\n');
}

const LOSSES: Readonly<Record<StoreLoss, string>> = {
  rolled_back: 'redis forgets a second',
  host_died: 'the host dies, redis forgets a second',
  flushed: 'redis forgets everything',
  lost_with_bridge: 'redis forgets everything, its bridge is killed with it',
};

function describeFault(fault: Fault): string {
  switch (fault.kind) {
    case 'failpoint': {
      const losses = [fault.loss, fault.lossWhenTripped].flatMap((loss) => (loss === undefined ? [] : [LOSSES[loss]]));
      return [`${fault.name} × ${fault.action}`, ...losses].join(', ');
    }
    case 'signal':
      return `${fault.target} × ${fault.signal}`;
    case 'absence':
      return 'bridge and standby killed, not followed';
    case 'frozen':
      return `bridge stopped for ${fault.forMs / 1_000} s, then killed`;
    case 'no_journals':
      return 'journals removed, then bridge killed';
    case 'clock': {
      const awaited = fault.awaits === 'incident' ? ' until an incident' : '';
      const killed = fault.isBridgeKilled ? ', bridge killed' : '';
      return `clock set by ${fault.byMs / 1_000} s${awaited}${killed}`;
    }
    case 'store':
      return LOSSES[fault.loss];
    default:
      return fault satisfies never;
  }
}
