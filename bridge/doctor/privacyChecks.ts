/** Checks whether other users of this host can read or change the bridge's files: earlier versions wrote files that everybody could read. */
import { relative } from 'node:path';
import { counted } from '../../src/counted.js';
import { SHARED_BITS } from '../../src/files/privateFiles.js';
import { type CheckResult, fault, ok, skipped, warning } from './checkResult.js';
import { filesIn, strangersAmong } from './ownershipChecks.js';

const LEVELS = 2;
const MOST_NAMED = 3;
/** Shipped with the product. */
const NOT_OURS = new Set(['README.md']);

/** Looks two levels deep. The doctor may be another user than the owner, such as root. */
export async function checkPrivacy(logsFolder: string): Promise<CheckResult> {
  const name = 'privacy of the logs';
  const all = (await filesIn(logsFolder, LEVELS)).filter(({ path }) => !NOT_OURS.has(relative(logsFolder, path)));
  const [folder] = all;
  if (folder === undefined) return skipped(name, 'there is no logs folder yet');
  const links = all.filter(({ stat }) => stat.isSymbolicLink()).map(({ path }) => path);
  const wide = all.filter(({ stat }) => !stat.isSymbolicLink() && (stat.mode & SHARED_BITS) !== 0);
  const [stranger, ...more] = strangersAmong(all, folder.stat.uid);
  const words: string[] = [];
  const remedies: string[] = [];
  if (stranger !== undefined) {
    words.push(`${stranger.found}${more.length === 0 ? '' : `, and ${counted(more.length, 'more file')} like it`}`);
    remedies.push(stranger.remedy);
  }
  if (wide.length > 0) {
    const what = wide.length === 1 ? '1 file or folder' : `${wide.length} files and folders`;
    words.push(`others on this host may read ${what}, such as ${wide[0]?.path}`);
    remedies.push(`\`chmod -R go= ${logsFolder}\``);
  }
  if (links.length > 0) {
    words.push(`links are not followed: ${links.slice(0, MOST_NAMED).join(', ')}`);
    remedies.push('remove the links, and find out who created them');
  }
  if (words.length === 0) return ok(name, `${logsFolder} is readable by this user only`);
  return (stranger === undefined ? warning : fault)(name, words.join('; '), remedies.join('; '));
}
