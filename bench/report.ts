/** What a bench prints: lines for people, the figure that has a target last. */
import { cpus } from 'node:os';
import type { Compared, Figure } from './rounds.js';

export interface Target {
  readonly what: string;
  readonly value: number;
  /** At most this much. */
  readonly atMost: number;
  readonly unit: string;
}

export function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** A bench tells and never fails: a busy machine is no fault of the code. */
export function sayTarget({ what, value, atMost, unit }: Target): void {
  const verdict = value <= atMost ? 'reached' : 'MISSED';
  say(`  ${what}: ${rounded(value)}${unit}, target at most ${rounded(atMost)}${unit}: ${verdict}`);
}

export function sayCompared(ours: string, yardstick: string, compared: Compared): void {
  say(`  ${ours}: ${milliseconds(compared.ours)}`);
  say(`  ${yardstick}: ${milliseconds(compared.yardstick)}`);
  say(`  ratio: ${spread(compared.ratio)} in ${compared.rounds} rounds`);
}

export function machine(): string {
  const [cpu] = cpus();
  return `${cpus().length} cores, ${cpu?.model.trim() ?? 'unknown processor'}, Node ${process.version}, ${process.platform}`;
}

/** @returns the number with as many digits as mean something */
export function rounded(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function milliseconds(figure: Figure): string {
  return `${spread(figure)} ms`;
}

function spread({ median, least, most }: Figure): string {
  return `${rounded(median)} (${rounded(least)}–${rounded(most)})`;
}
