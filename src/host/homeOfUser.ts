import { userInfo } from 'node:os';

/** For a process that was started without `HOME`. @returns undefined if the system does not know the user either */
export function homeOfUser(): string | undefined {
  try {
    return userInfo().homedir;
  } catch {
    return undefined;
  }
}
