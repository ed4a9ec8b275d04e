/** As whom agents run, and the environment that they inherit. */
import { readFileSync } from 'node:fs';
import { SECRET_VARIABLES } from '../log/redact.js';
import type { Faults } from './faults.js';
import { holdsSecret, type Secrets } from './secrets.js';

/** The variables that every program needs; all others must be named in AGENT_ENV. */
export const AGENT_BASICS = ['PATH', 'HOME', 'USER', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TERM', 'TMPDIR'];

export interface AgentUser {
  readonly uid: number;
  readonly gid: number;
  /** As in /etc/passwd; null for a user that is not listed. */
  readonly name: string | null;
  readonly home: string | null;
}

/** @param text a name in /etc/passwd, or `uid:gid`; undefined for the bridge's own user, which is null */
export function agentUserIn(text: string | undefined, faults: Faults): AgentUser | null {
  const user = text === undefined ? null : findUser(text);
  if (text !== undefined && user === null)
    faults.add('WATCHKEEPER_AGENT_USER: must be a user of this host, or uid:gid, and not root');
  return user;
}

/** @returns null if it is neither listed nor `uid:gid`, or is root */
function findUser(text: string): AgentUser | null {
  const [, uid, gid] = /^(\d{1,9}):(\d{1,9})$/.exec(text) ?? [];
  const known = listedUsers().find((user) => (uid === undefined ? user.name === text : user.uid === Number(uid)));
  const user = uid === undefined ? known : { name: null, home: null, ...known, uid: Number(uid), gid: Number(gid) };
  return user === undefined || user.uid === 0 || user.gid === 0 ? null : user;
}

function listedUsers(): AgentUser[] {
  let text: string;
  try {
    text = readFileSync('/etc/passwd', 'utf8');
  } catch {
    return [];
  }
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid, , home] = line.split(':');
    return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid), home: home || null }] : [];
  });
}

/** @param given what AGENT_ENV names, and the secrets that nothing of it may hold @returns the variables that an agent inherits */
export function agentEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  given: { readonly named: string | undefined; readonly user: AgentUser | null; readonly secrets: Secrets },
  faults: Faults,
): Record<string, string> {
  const { named, user, secrets } = given;
  const names = (named ?? '').split(/[\s,]+/).filter((name) => name !== '');
  for (const name of names) {
    const isOurs = SECRET_VARIABLES.some((secret) => name === secret || name === `${secret}_FILE`);
    if (isOurs) faults.add(`AGENT_ENV: ${name} is Watchkeeper's own secret and is never given to an agent; remove it`);
    else if (holdsSecret(environment[name] ?? '', secrets)) {
      faults.add(
        `AGENT_ENV: ${name} holds one of Watchkeeper's own secrets, which are never given to an agent; remove it, or give agents a secret of their own there`,
      );
    }
  }
  const inherited: Record<string, string> = {};
  for (const name of [...AGENT_BASICS, ...names]) {
    const value = environment[name];
    if (value !== undefined) inherited[name] = value;
  }
  return { ...inherited, ...(user?.home && { HOME: user.home }), ...(user?.name && { USER: user.name }) };
}
