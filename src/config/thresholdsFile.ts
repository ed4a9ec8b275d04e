/** A file of thresholds alone: the same keys, and the same error messages, as in the projects' file. */
import type * as z from 'zod';
import { createRedactor } from '../log/redact.js';
import { Faults } from './faults.js';
import { parseJsonText } from './jsonText.js';
import { thresholds } from './rules.js';

/** @param path for the error message @throws UsageError with every fault */
export function checkThresholds(path: string, text: string): z.infer<typeof thresholds> {
  const faults = new Faults(createRedactor([]));
  const json = parseJsonText(text);
  let checked: z.infer<typeof thresholds> | undefined;
  if ('fault' in json) faults.add(`the file ${json.fault}`);
  else checked = faults.check({ where: '', file: 'the file' }, thresholds, json.value);
  faults.throwIfAny(`--thresholds: ${path} has`);
  return checked ?? {};
}
