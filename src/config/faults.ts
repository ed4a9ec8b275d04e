/** Collects everything that is wrong with a configuration, so that it is said once and whole. */
import { z } from 'zod';
import { UsageError } from '../errors.js';
import { didYouMean } from './didYouMean.js';

export class Faults {
  private readonly found: string[] = [];

  /** @param fault a sentence: where, what is allowed, what to do. Never holds a secret's value. */
  add(fault: string): void {
    this.found.push(fault);
  }

  /**
   * @param where how the value is called where the operator wrote it
   * @param schema what is allowed
   * @returns the value; undefined where it is not allowed, with its faults added
   */
  check<Value>(where: string, schema: z.ZodType<Value>, value: unknown): Value | undefined {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) this.add(describeIssue(where, schema, issue));
    return undefined;
  }

  /** @throws UsageError with every fault in one message */
  throwIfAny(): void {
    if (this.found.length === 0) return;
    const count = this.found.length === 1 ? 'a fault' : `${this.found.length} faults`;
    throw new UsageError(`the configuration has ${count}:\n${this.found.map((fault) => `  - ${fault}`).join('\n')}`);
  }
}

function describeIssue(where: string, schema: z.ZodType, issue: z.core.$ZodIssue): string {
  const path = [where, ...issue.path.map(String)].filter((part) => part !== '').join('.');
  if (issue.code !== 'unrecognized_keys') return `${path}: ${issue.message}`;
  const known = knownKeys(schema, issue.path);
  return issue.keys
    .map((key) => {
      const allowed = known.length > 0 ? ` (known: ${known.join(', ')})` : '';
      return `${path}: unknown key ${JSON.stringify(key)}${didYouMean(key, known)}${allowed}`;
    })
    .join('\n  - ');
}

function knownKeys(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: unknown = unwrap(schema);
  for (const part of path) {
    if (at instanceof z.ZodObject) at = unwrap(at.shape[String(part)]);
    else if (at instanceof z.ZodRecord) at = unwrap(at.valueType);
    else return [];
  }
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

function unwrap(schema: unknown): unknown {
  let at = schema;
  while (at instanceof z.ZodOptional || at instanceof z.ZodDefault || at instanceof z.ZodPrefault) at = at.unwrap();
  return at;
}
