/** Notices to the operator about the configuration: logged at the start of a service, and after each reload. */
import { join } from 'node:path';
import { type ConfigSource, describeReload } from '../../src/config/configSource.js';
import type { Settings } from '../../src/config/settings.js';
import { describeError } from '../../src/errors.js';
import type { ReloadOutcome } from '../../src/jobs/reloads.js';
import type { Logger } from '../../src/log/logger.js';
import { refuseUserWithoutRights, warnOfOpenAgents } from '../agents/program/isolation.js';
import type { ServedAgents } from '../agents/registry.js';
import { checkProjectDirectories } from './folderChecks.js';

/** @param canType in this terminal @throws UsageError if agents cannot run as the configured user */
export async function logStartNotices(settings: Settings, logger: Logger, canType: boolean): Promise<void> {
  for (const notice of settings.notices) logger.warn(notice);
  for (const sentence of toFillIn(settings, canType)) logger.info(sentence);
  refuseUserWithoutRights(settings);
  await warnOfAgents(settings, logger);
}

/** Never throws: a faulty configuration is logged, and the old one stays. @param agents null for a process that runs none */
export async function reloadConfiguration(
  source: ConfigSource,
  agents: ServedAgents | null,
  logger: Logger,
  onReloaded: () => void,
): Promise<ReloadOutcome> {
  try {
    const reloaded = await source.reload((next) => agents?.exchange(next));
    logger.info({ ...reloaded }, describeReload(reloaded));
    for (const notice of reloaded.notices) logger.warn(notice);
    if (agents !== null) await warnOfAgents(source.settings, logger);
    onReloaded();
    return { ok: true, said: describeReload(reloaded) };
  } catch (error) {
    const said = `the configuration was not reloaded, and the old one stays in effect: ${describeError(error)}`;
    logger.error(said);
    return { ok: false, said };
  }
}

/** Warns of all that agents can reach, and of each directory where they cannot work properly, with a remedy. */
async function warnOfAgents(settings: Settings, logger: Logger): Promise<void> {
  warnOfOpenAgents(settings, logger);
  for (const { name, found, remedy } of await checkProjectDirectories(settings)) {
    if (remedy !== null) logger.warn(`${name}: ${found}; ${remedy}`);
  }
}

/** Settings that the operator still has to fill in for a bridge that runs with less than it can do. */
function toFillIn({ telegram, github, logsFolder }: Settings, canType: boolean): string[] {
  const sentences: string[] = [];
  if (telegram === null) {
    const chat = canType
      ? 'this terminal is the chat, and `watchkeeper enqueue` gives it work'
      : 'only `watchkeeper enqueue` gives it work, because nobody can type here (standard input is not a terminal); answers are printed to standard output';
    sentences.push(`to fill in: TELEGRAM_BOT_TOKEN (or TELEGRAM_BOT_TOKEN_FILE), from @BotFather; until then ${chat}`);
  }
  if (github === null) {
    sentences.push(
      `to fill in: GITHUB_TOKEN (or GITHUB_TOKEN_FILE), which may read and write issues; until then issues are files in ${join(logsFolder, 'issues')}`,
    );
  }
  return sentences;
}
