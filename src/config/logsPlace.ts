/**
 * Where the bridge keeps its logs, and its own Redis. Never where agents work: one that cleans its checkout would delete accepted
 * messages. The scripted agent deletes nothing, so a trial may keep its logs in the folder where it is started.
 */
import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { ID_FILE } from '../files/logsFolder.js';
import type { Faults } from './faults.js';
import { contains } from './projects.js';
import { servedDirectories } from './servedPlaces.js';
import type { Project } from './settings.js';

const NAME = 'WATCHKEEPER_LOGS';
const DIGEST_LENGTH = 8;

export interface LogsPlaceQuestion {
  /** `WATCHKEEPER_LOGS`. */
  readonly asked: string | undefined;
  readonly workingDirectory: string;
  readonly projects: ReadonlyMap<string, Project>;
  readonly environment: { readonly XDG_STATE_HOME?: string | undefined };
  /** The operator's. */
  readonly home: string;
}

/** @returns the folder, and a sentence for the operator if it is not where it usually is */
export function logsPlace(question: LogsPlaceQuestion, faults: Faults): { folder: string; notice: string | null } {
  const { asked, workingDirectory, projects } = question;
  const usual = resolve(workingDirectory, asked ?? 'logs');
  const owner = ownerOf(usual, projects);
  if (owner === null) return { folder: usual, notice: null };
  const outside = placeOutside(question);
  const where = `${usual} lies in a directory of the project "${owner}", whose agents can delete it`;
  if (asked !== undefined) faults.add(`${NAME}: ${where}; name a folder outside, such as ${outside}`);
  else if (existsSync(join(usual, ID_FILE))) {
    faults.add(
      `${NAME} is not set, and ${where}, with all that a bridge has kept there. Stop that bridge and move the folder: \`mkdir -p ${dirname(outside)} && mv ${usual} ${outside}\``,
    );
  } else
    return { folder: outside, notice: `the logs are in ${outside}, because ${where}; ${NAME} names another folder` };
  return { folder: usual, notice: null };
}

/** @returns the key of the project that has agents of others at work there; null if none has */
function ownerOf(folder: string, projects: ReadonlyMap<string, Project>): string | null {
  const real = realOfNearest(folder);
  const found = servedDirectories(projects).find(
    ({ projectKey, path }) =>
      projects.get(projectKey)?.agent.kind !== 'scripted' && contains(realOfNearest(path), real),
  );
  return found?.projectKey ?? null;
}

function placeOutside({ workingDirectory, environment, home }: LogsPlaceQuestion): string {
  const { XDG_STATE_HOME: asked } = environment;
  const state = asked && isAbsolute(asked) ? asked : join(home, '.local', 'state');
  const digest = createHash('sha256').update(workingDirectory).digest('hex').slice(0, DIGEST_LENGTH);
  return join(state, 'watchkeeper-bridge', `${basename(workingDirectory) || 'root'}-${digest}`);
}

/** The folder may not exist yet. */
function realOfNearest(path: string): string {
  for (let at = path, rest = ''; ; rest = join(basename(at), rest), at = dirname(at)) {
    try {
      return join(realpathSync(at), rest);
    } catch {
      if (dirname(at) === at) return path;
    }
  }
}
