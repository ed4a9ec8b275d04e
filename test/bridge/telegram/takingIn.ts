/** A Telegram intake with its real parts. */
import { acceptForOthers, MessageAcceptor } from '../../../bridge/intake/acceptMessage.js';
import { Admission } from '../../../bridge/intake/admission.js';
import { Commands } from '../../../bridge/intake/commands/commands.js';
import { Errands } from '../../../bridge/telegram/errands.js';
import { BotWatch } from '../../../bridge/telegram/intake/botWatch.js';
import { TelegramIntake } from '../../../bridge/telegram/intake/intake.js';
import type { Turn } from '../../../bridge/telegram/intake/pollerTurn.js';
import { RejectedUpdates } from '../../../bridge/telegram/intake/rejectedUpdates.js';
import { UpdateHandler } from '../../../bridge/telegram/intake/updateHandler.js';
import type { LiveTerminal } from '../../../monitoring/terminals/liveTerminal.js';
import type { Settings } from '../../../src/config/settings.js';
import type { Store } from '../../../src/jobs/store.js';
import { testFolder } from '../../harness/folder.js';
import { afterThisTest } from '../../harness/scope.js';
import { ONLY_POLLER, type Scene } from './scene.js';

export interface TakingIn {
  readonly settings?: Settings;
  readonly store?: Store;
  readonly describeActivity?: (sessionId: string) => string | null;
  readonly turn?: Turn;
  readonly terminals?: readonly LiveTerminal[];
}

export async function takingIn(scene: Scene, options: TakingIn = {}, isStarted = true) {
  const { clock, logger } = scene;
  const { store = scene.store, settings = scene.settings, describeActivity = () => null } = options;
  const { turn = ONLY_POLLER, terminals = [] } = options;
  const logsFolder = testFolder();
  const admission = new Admission(settings, scene);
  const accept = acceptForOthers(store);
  const acceptor = new MessageAcceptor({ store, accept, settings, logger, isHostLost: () => false });
  const commands = new Commands(
    { ...scene, store },
    {
      describeActivity,
      isMissing: () => false,
      terminals: { live: terminals },
    },
  );
  const handled = { ...scene, store, admission, acceptor, commands };
  const handler = new UpdateHandler(handled, new Errands(logger, clock, handled.api.spending));
  const rejected = new RejectedUpdates(scene, logsFolder);
  const watch = new BotWatch({ ...scene, troubles: store.botTroubles }, scene.api.botId);
  const intake = new TelegramIntake({ ...handled, rejected, turn, watch });
  afterThisTest(() => intake.stop());
  if (isStarted) await intake.start();
  return { intake, handler, admission, store, logsFolder };
}
