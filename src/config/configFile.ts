/**
 * Reads `watchkeeper.config.json`. Even in a faulty file the valid parts are read, so that their own faults are reported, too.
 */
import { resolve } from 'node:path';
import type * as z from 'zod';
import { errorCode } from '../errors.js';
import { describeFileTrouble, readPlainFile } from '../files/plainFile.js';
import { isProjectKey } from '../ids.js';
import { isObject } from '../json.js';
import type { Faults } from './faults.js';
import { parseJsonText } from './jsonText.js';
import { type ProjectEntry, type ProjectFile, projectEntry, projectFile } from './projectFile.js';

export const CONFIG_FILE = 'watchkeeper.config.json';
export const FOR_TRYING_OUT: ProjectFile = { projects: { local: projectEntry.parse({ directory: '.' }) } };
/** Far larger than any project file. */
const LONGEST_BYTES = 16 * 1024 * 1024;

/** Checks an agent's options, which this ring does not know. @param where in the operator's text */
export type CheckAgent = (where: string, agent: ProjectEntry['agent'], faults: Faults) => void;

/** @param named `WATCHKEEPER_CONFIG`; undefined looks for the usual name @returns null if there is no file */
export async function readConfigFile(
  workingDirectory: string,
  named: string | undefined,
  checkAgent: CheckAgent,
  faults: Faults,
): Promise<ProjectFile | null> {
  const path = resolve(workingDirectory, named ?? CONFIG_FILE);
  const where = named === undefined ? path : `WATCHKEEPER_CONFIG: ${named}`;
  let text: string;
  try {
    text = await readPlainFile(path, LONGEST_BYTES);
  } catch (error) {
    if (named === undefined && errorCode(error) === 'ENOENT') return null;
    faults.add(`${where} cannot be read (${describeFileTrouble(error)}); it must be a readable JSON file`);
    return { projects: {} };
  }
  const json = parseJsonText(text);
  if ('fault' in json) {
    faults.add(`${where}: ${json.fault}`);
    return { projects: {} };
  }
  const checked = faults.check({ where: '', file: named ?? CONFIG_FILE }, projectFile, json.value);
  const entries = Object.entries(objectOf(objectOf(json.value).projects));
  for (const [key, entry] of entries) {
    if (!isProjectKey(key)) {
      faults.add(
        `projects.${JSON.stringify(key)}: a project's key is lower-case letters, digits, "_" and "-", at most 40`,
      );
    }
    const agent = projectEntry.shape.agent.safeParse(objectOf(entry).agent);
    if (agent.success) checkAgent(`projects.${key}.agent`, agent.data, faults);
  }
  return checked ?? usablePart(json.value, entries);
}

function usablePart(json: unknown, entries: readonly [string, unknown][]): ProjectFile {
  const { projects: _, ...others } = partsOf(json, projectFile.shape);
  const projects = entries.flatMap(([key, entry]) => {
    const { data } = projectEntry.safeParse(partsOf(entry, projectEntry.shape));
    return data === undefined ? [] : [[key, data]];
  });
  return { ...(others as Omit<ProjectFile, 'projects'>), projects: Object.fromEntries(projects) };
}

function partsOf(given: unknown, shape: Readonly<Record<string, z.ZodType>>): Record<string, unknown> {
  const parts = Object.entries(objectOf(given)).filter(([key, part]) => shape[key]?.safeParse(part).success === true);
  return Object.fromEntries(parts);
}

function objectOf(given: unknown): Record<string, unknown> {
  return isObject(given) ? { ...given } : {};
}
