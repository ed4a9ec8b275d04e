/** The user that agents run as, if it is not the bridge's own. */
import { readFileSync } from 'node:fs';

export interface AgentUser {
  readonly uid: number;
  readonly gid: number;
  /** As in /etc/passwd; null for a user that is not listed. */
  readonly name: string | null;
  readonly home: string | null;
}

/**
 * @param text a name in /etc/passwd, or `uid:gid`
 * @returns null if it is neither, or is root
 */
export function findAgentUser(text: string, passwordFile = '/etc/passwd'): AgentUser | null {
  const [, uid, gid] = /^(\d{1,9}):(\d{1,9})$/.exec(text) ?? [];
  const known = usersIn(passwordFile).find((user) =>
    uid === undefined ? user.name === text : user.uid === Number(uid),
  );
  const user = uid === undefined ? known : { name: null, home: null, ...known, uid: Number(uid), gid: Number(gid) };
  return user === undefined || user.uid === 0 || user.gid === 0 ? null : user;
}

function usersIn(file: string): AgentUser[] {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch {
    return [];
  }
  return text.split('\n').flatMap((line) => {
    const [name, , uid, gid, , home] = line.split(':');
    return name && uid && gid ? [{ name, uid: Number(uid), gid: Number(gid), home: home || null }] : [];
  });
}
