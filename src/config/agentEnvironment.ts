/** The environment that an agent inherits, and as whom it runs. */
import { findAgentUser } from './agentUser.js';
import type { Faults } from './faults.js';
import { holdsSecret, SECRETS, type Secrets } from './secrets.js';
import type { Settings } from './settings.js';

/** What every program needs; everything else must be named in AGENT_ENV. */
const AGENT_BASICS = ['PATH', 'HOME', 'USER', 'SHELL', 'LANG', 'LC_ALL', 'TZ', 'TERM', 'TMPDIR'];

export function agentUserIn(text: string | undefined, faults: Faults): Settings['agentUser'] {
  const user = text === undefined ? null : findAgentUser(text);
  if (text !== undefined && user === null)
    faults.add('WATCHKEEPER_AGENT_USER: must be a user of this host, or uid:gid, and not root');
  return user;
}

/**
 * @param environment of this process
 * @param given what AGENT_ENV names, the user that agents run as, and the secrets that nothing of it may hold
 * @returns what an agent inherits; what is refused goes to `faults`
 */
export function agentEnvironment(
  environment: Readonly<Record<string, string | undefined>>,
  given: { readonly named: string | undefined; readonly user: Settings['agentUser']; readonly secrets: Secrets },
  faults: Faults,
): Record<string, string> {
  const { named, user, secrets } = given;
  const names = (named ?? '').split(/[\s,]+/).filter((name) => name !== '');
  for (const name of names) {
    const isOurs = SECRETS.some((secret) => name === secret || name === `${secret}_FILE`);
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
