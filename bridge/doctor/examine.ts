/** The whole examination. Each part has a time limit, and no part keeps another from being checked. */
import type { Settings } from '../../src/config/settings.js';
import { type Clock, SECOND } from '../../src/time.js';
import type { Asker } from '../plugin/agent.js';
import { TelegramApi } from '../telegram/api.js';
import { checkAgents } from './agentChecks.js';
import { type CheckResult, examined, skipped, warning } from './checkResult.js';
import { checkLogsFolder, checkProjectDirectories } from './folderChecks.js';
import { checkGitHub } from './githubChecks.js';
import { checkGrowth } from './growthChecks.js';
import { checkIsolation, checkMarks } from './isolationChecks.js';
import { checkLosses } from './lossChecks.js';
import { checkMemory } from './memoryChecks.js';
import { checkConfigurationFiles } from './ownershipChecks.js';
import { checkPlugin } from './pluginChecks.js';
import { checkPrivacy } from './privacyChecks.js';
import { examineRedis } from './redisExamination.js';
import { checkAllowLists, checkOwnPoller, checkTelegram, type OwnBridge } from './telegramChecks.js';
import { checkTornLines } from './tornLineChecks.js';

const QUICK_LIMIT_MS = 1.5 * SECOND;
const FULL_LIMIT_MS = 40 * SECOND;

/** Faults are results. @param quick at most two seconds, asks no service outside, writes nothing @param asker for plugins */
export async function examine(settings: Settings, quick: boolean, clock: Clock, asker: Asker) {
  const ending = new AbortController();
  const limitMs = quick ? QUICK_LIMIT_MS : FULL_LIMIT_MS;
  const part = (name: string, work: Promise<CheckResult[]>) => examined(name, work, limitMs, clock);
  const api = settings.telegram === null ? null : new TelegramApi(settings.telegram, clock);
  const redis = examineRedis(settings, { clock, limitMs, botId: api?.botId ?? null, mayWrite: !quick });
  const telegram = async (ownBridge: OwnBridge) => {
    if (api === null) return [skipped('telegram', 'TELEGRAM_BOT_TOKEN is not set: messages come from the terminal')];
    if (quick) return [notAsked('telegram'), ...checkOwnPoller(ownBridge, clock)];
    return checkTelegram(api, settings, ownBridge, clock);
  };
  const parts = await Promise.all([
    redis.then(({ checks }) => checks),
    redis.then(({ ownBridge }) => part('telegram', telegram(ownBridge))),
    part('github', quick ? Promise.resolve([notAsked('github')]) : checkGitHub(settings, clock)),
    part('agents', checkAgents(settings, quick, ending.signal)),
    part('marks of agents', Promise.resolve(checkMarks())),
    part('isolation', Promise.resolve(checkIsolation(settings))),
    part('logs folder', checkLogsFolder(settings.logsFolder, !quick)),
    part('losses', checkLosses(settings.logsFolder, clock)),
    part('torn lines', quick ? Promise.resolve([]) : checkTornLines(settings.logsFolder)),
    part(
      'privacy of the logs',
      checkPrivacy(settings.logsFolder).then((check) => [check]),
    ),
    part(
      'configuration files',
      checkConfigurationFiles(settings).then((check) => [check]),
    ),
    part('retention', quick ? Promise.resolve([]) : checkGrowth(settings, clock).then((check) => [check])),
    part('memory', checkMemory(asker.surroundings, quick, settings.agentUser)),
    part('plugin', checkPlugin(asker, quick)),
    part('directories', checkProjectDirectories(settings)),
    checkAllowLists(settings),
    checkProxy(settings),
  ]);
  ending.abort();
  return { checks: parts.flat(), isRedisReachable: (await redis).isReachable };
}

/** Before anything else is blamed on it. */
function checkProxy({ unusedProxy }: Settings): CheckResult[] {
  return unusedProxy === null ? [] : [warning('proxy', unusedProxy.found, unusedProxy.remedy)];
}

function notAsked(name: string): CheckResult {
  return skipped(name, 'not checked: --quick uses no network beyond Redis');
}
