import { expect, test } from '@jest/globals';
import { GitHubIssues } from '../../../../monitoring/incident/issue/githubIssues.js';
import type { IssueRecord } from '../../../../monitoring/incident/issue/issueRecords.js';
import { ProjectIssues } from '../../../../monitoring/incident/issue/projectIssues.js';
import { correlated, signOfOutage } from '../../../../monitoring/incident/outage/evidence.js';
import { IncidentReporter } from '../../../../monitoring/incident/saga/incidentReporter.js';
import type { Reporter } from '../../../../monitoring/incident/sagaContext.js';
import { DEFAULT_ACTIONS } from '../../../../src/config/projects.js';
import { DEFAULT_THRESHOLDS } from '../../../../src/config/rules.js';
import { UnreachableError } from '../../../../src/errors.js';
import { revivalSessionId } from '../../../../src/ids.js';
import type { Incident } from '../../../../src/jobs/incidents.js';
import { StoredIssueRecords } from '../../../../src/jobs/issueRecords.js';
import type { AgentSession } from '../../../../src/jobs/model.js';
import { publishWake } from '../../../../src/jobs/wakes.js';
import type { JournalWriter } from '../../../../src/journal/writer.js';
import { createRedactor } from '../../../../src/log/redact.js';
import { MINUTE, SECOND } from '../../../../src/time.js';
import { describeWithRedis } from '../../../harness/redis.js';
import { afterThisTest } from '../../../harness/scope.js';
import { type GithubPeer, startGithubPeer } from '../../../peers/github/githubPeer.js';
import {
  atRest,
  BEGINNING,
  deadProcess,
  HERE,
  journalOf,
  openWatchdogScene,
  runOf,
  SILENCE_MS,
  startWatchdog,
  until,
  type WatchdogOptions,
  type WatchdogScene,
} from '../../watchdogScene.js';
import {
  allReport,
  eventLines,
  findingOf,
  issueText,
  must,
  openIncident,
  releaseRun,
  runIdOf,
} from '../saga/sagaScene.js';

interface Working {
  readonly session: AgentSession;
  readonly journal: JournalWriter;
}

const WAITING = 'The model provider seems to be down.';

async function work(scene: WatchdogScene, messageId: string, project = 'popoto'): Promise<Working> {
  const session = await runOf(scene, messageId);
  await scene.store.redis.hset(scene.store.keys.session(session.session_id), 'project_key', project);
  const journal = journalOf(scene, session);
  for (const line of BEGINNING) journal.append(line);
  return { session, journal };
}

/** @returns a watchdog that acts, with so many agents at work; the first ones fall silent together, the others go on */
async function provider(
  working: number,
  silent: number,
  options: WatchdogOptions = {},
  projectOf: (number: number) => string = () => 'popoto',
) {
  const scene = await openWatchdogScene(options);
  const agents: Working[] = [];
  for (let number = 1; number <= working; number += 1) agents.push(await work(scene, `${number}`, projectOf(number)));
  await startWatchdog(scene);
  await scene.clock.advance(SILENCE_MS - MINUTE);
  for (const { journal } of agents.slice(silent)) journal.append({ event: 'assistant_message' });
  return { scene, affected: agents.slice(0, silent).map(({ session }) => session), agents };
}

function openIncidents({ store }: WatchdogScene): Promise<Incident[]> {
  return store.records.openIncidents();
}

async function outageOf(scene: WatchdogScene): Promise<Incident | null> {
  return scene.store.records.incidentAbout('provider');
}

async function incidentOf(scene: WatchdogScene, { session_id }: AgentSession): Promise<Incident | null> {
  return (await openIncidents(scene)).find((one) => one.session_id === session_id && one.subject === undefined) ?? null;
}

/** The silence becomes true for all of them, and their runs are ended. */
async function fallSilent(scene: WatchdogScene, affected: readonly AgentSession[]): Promise<void> {
  await scene.clock.advance(MINUTE + 1);
  for (const session of affected) {
    await until(async () => (await incidentOf(scene, session))?.step === 'stopping');
    await releaseRun(scene, session);
  }
}

async function statusOf(scene: WatchdogScene, { session_id }: AgentSession): Promise<string> {
  return must(await scene.store.records.session(session_id)).status;
}

/** @returns the second attempts that wait or run */
async function secondAttempts({ store }: WatchdogScene): Promise<AgentSession[]> {
  const ids = [...(await store.records.sessionIds('pending')), ...(await store.records.sessionIds('active'))];
  const sessions = await Promise.all(ids.map((id) => store.records.session(id)));
  return sessions.filter((session) => session !== null).filter(({ attempt }) => attempt === 2);
}

async function untilTriedAgain(scene: WatchdogScene, count: number): Promise<AgentSession> {
  await until(async () => (await secondAttempts(scene)).length === count);
  return must((await secondAttempts(scene)).find(({ status }) => status === 'pending'));
}

/** The probe waits for the link to the issue. */
async function firstProbe(scene: WatchdogScene): Promise<AgentSession> {
  await until(async () => (await outageOf(scene))?.course?.phase === 'probing');
  await atRest(scene);
  await scene.clock.advance(5 * SECOND);
  return untilTriedAgain(scene, 1);
}

async function startAgain(scene: WatchdogScene, session: AgentSession): Promise<Working> {
  const run = { run_id: runIdOf(session), owner: HERE, pid: 78, started_at: scene.clock.now() };
  const started = must(await scene.store.transitions.start(session, run, 1_000 * MINUTE)).session;
  const journal = journalOf(scene, started);
  for (const line of BEGINNING) journal.append(line);
  return { session: started, journal };
}

async function succeed(scene: WatchdogScene, { session, journal }: Working): Promise<void> {
  const call = { tool_use_id: 'works', tool_name: 'bash' };
  journal.append({ event: 'pre_tool_use', ...call, tool_input: {} });
  journal.append({ event: 'post_tool_use', ...call, is_error: false, outcome: 'ok', tool_output_preview: '' });
  await publishWake(scene.store, { session: session.session_id });
}

async function crash(scene: WatchdogScene, { session_id }: AgentSession, reason = 'run_failed_exit_1'): Promise<void> {
  const session = must(await scene.store.records.session(session_id));
  const finding = { ...findingOf('crash', reason), since: new Date(scene.clock.now()).toISOString() };
  await openIncident(scene, session, { findings: [finding] });
  await releaseRun(scene, session);
}

/** Every second attempt answers. */
async function answerAll(scene: WatchdogScene): Promise<void> {
  for (const session of await secondAttempts(scene)) {
    must(await scene.store.transitions.complete(session.session_id, runIdOf(session), 'done'));
  }
}

function told(scene: WatchdogScene): string[] {
  return scene.said.filter((text) => text.includes(WAITING));
}

describeWithRedis('five of eight sessions that fall silent together', () => {
  test('are one outage with one issue: held, reported kindly once, probed by one message, released one at a time', async () => {
    const { scene, affected } = await provider(8, 5);
    await fallSilent(scene, affected);
    await until(() => told(scene).length === 5);
    await atRest(scene);
    await scene.clock.advance(5 * SECOND);
    const first = await untilTriedAgain(scene, 1);
    await until(async () => (await outageOf(scene))?.report.state === 'filed');
    await until(async () => (await incidentOf(scene, must(affected[4])))?.report.state === 'joined');
    await atRest(scene);
    const outage = must(await outageOf(scene));
    expect(outage).toMatchObject({ rule: 'provider_outage', acting: false, course: { phase: 'probing', probes: 1 } });
    expect(outage.findings[0]?.evidence[0]).toBe('5 of 8 active sessions turned unhealthy together');
    const others = affected.filter(({ session_id }) => session_id !== first.revival_of);
    for (const session of others) {
      expect(await statusOf(scene, session)).toBe('active');
      expect(await incidentOf(scene, session)).toMatchObject({ step: 'released', report: { url: outage.report.url } });
    }
    expect(issueText(scene, 1)).toContain('provider_outage');
    expect(issueText(scene, 2)).toBe('');

    let probe = await startAgain(scene, first);
    for (let released = 2; released <= 5; released += 1) {
      await atRest(scene);
      expect(await secondAttempts(scene)).toHaveLength(released - 1);
      await succeed(scene, probe);
      probe = await startAgain(scene, await untilTriedAgain(scene, released));
    }
    await succeed(scene, probe);
    await until(async () => (await outageOf(scene)) === null);
    // The provider works, but no message is answered yet.
    const open = await openIncidents(scene);
    expect(open.map(({ step, outcome }) => [step, outcome])).toEqual(Array(5).fill(['revived', null]));
    await answerAll(scene);
    await until(async () => (await openIncidents(scene)).length === 0);
    await atRest(scene);

    expect(told(scene)).toHaveLength(5);
    expect(scene.said.filter((text) => text.includes('Sorry'))).toEqual([]);
    const ofOutage = eventLines(scene).filter(({ event }) => event === 'provider_outage');
    expect(ofOutage.map(({ id }) => id.split('.')[1])).toEqual(['detected', 'reported', 'closed']);
    expect(ofOutage[0]).toMatchObject({
      rule: 'provider_outage',
      reason: expect.stringMatching(/^provider_outage_of_\d$/),
    });
    expect(ofOutage.at(-1)).toMatchObject({ final: true, details: { outcome: 'recovered' } });
    expect(issueText(scene, 2)).toBe('');
  });

  // rule: an-outage-survives-its-watchdog
  test('are held by a successor that knows only the store, with the same probe', async () => {
    const { scene, affected } = await provider(8, 5);
    await fallSilent(scene, affected);
    const first = await firstProbe(scene);
    await atRest(scene);
    await scene.watchdog.stop();
    const successor = scene.saga({
      folders: { guard: () => scene.watchdogLease.guard(), actsFor: () => true },
      sessions: { active: () => 0, soonSilent: async () => 0 },
    });
    for (let round = 0; round < 3; round += 1) {
      for (const { incident_id } of await openIncidents(scene)) await successor.advance(incident_id);
      await successor.settle();
    }
    expect((await secondAttempts(scene)).map(({ session_id }) => session_id)).toEqual([first.session_id]);
    expect(eventLines(scene).filter(({ action_taken }) => action_taken === 'revival_attempted')).toHaveLength(1);
  });

  test('are not held for ever if the record of their outage is lost: each is run again', async () => {
    const { scene, affected } = await provider(8, 5);
    await fallSilent(scene, affected);
    await firstProbe(scene);
    await atRest(scene);
    const outage = must(await outageOf(scene));
    await scene.store.redis.del(scene.store.keys.incident(outage.incident_id));
    await scene.watchdog.checkAllSessions();
    await until(async () => (await secondAttempts(scene)).length === 5);
  });

  // rule: an-outage-is-probed
  test('keep waiting while a probe fails, and are reported as failed after enough probes', async () => {
    const { scene, affected, agents } = await provider(8, 6);
    const live = () => {
      for (const { journal } of agents.slice(6)) journal.append({ event: 'assistant_message' });
    };
    await fallSilent(scene, affected);
    await firstProbe(scene);
    for (let probes = 1; probes <= 5; probes += 1) {
      const probe = await startAgain(scene, await untilTriedAgain(scene, probes));
      live();
      await atRest(scene);
      await scene.clock.advance(SILENCE_MS / 2);
      live();
      await scene.clock.advance(SILENCE_MS / 2 + 1);
      await until(async () => (await incidentOf(scene, probe.session))?.step === 'stopping');
      await releaseRun(scene, probe.session);
      await until(async () => (await outageOf(scene))?.course?.phase !== 'probing');
      if (probes === 5) break;
      await until(async () => (await incidentOf(scene, probe.session))?.hold?.is_told === true);
      await atRest(scene);
      expect(scene.said.filter((text) => text.includes('Sorry'))).toEqual([]);
      expect(await secondAttempts(scene)).toHaveLength(probes);
      for (let minutes = [1, 5, 15, 30][probes - 1] ?? 0; minutes > 0; minutes -= 1) {
        live();
        await scene.clock.advance(MINUTE);
      }
    }
    await until(async () => (await openIncidents(scene)).every(({ subject }) => subject === undefined));
    await atRest(scene);
    for (const session of affected) expect(await statusOf(scene, session)).toBe('failed');
    await until(() => scene.said.filter((text) => text.includes('Sorry')).length === 6);
    const last = scene.said.filter((text) => text.includes('I will not try again: the model provider was down'));
    expect(last).toHaveLength(1);
  }, 60_000);

  // rule: a-held-message-can-be-cancelled
  test('that a person cancels meanwhile end as cancelled', async () => {
    const { scene, affected } = await provider(8, 5);
    await fallSilent(scene, affected);
    const first = await firstProbe(scene);
    await until(() => told(scene).length === 5);
    const held = must(affected.find(({ session_id }) => session_id !== first.revival_of));
    await scene.store.transitions.cancel(held.session_id, 'Cancelled at your request.');
    await until(async () => (await statusOf(scene, held)) === 'cancelled');
    await until(async () => (await incidentOf(scene, held)) === null);
  });

  test('have the next probe at once if a person cancels the first: that proves nothing about the provider', async () => {
    const { scene, affected } = await provider(8, 5);
    await fallSilent(scene, affected);
    const probe = await firstProbe(scene);
    await scene.store.transitions.cancel(probe.session_id, 'Cancelled at your request.');
    await until(async () => (await statusOf(scene, probe)) === 'cancelled');
    const next = await untilTriedAgain(scene, 1);
    expect(next.session_id).not.toBe(probe.session_id);
    expect((await outageOf(scene))?.course).toMatchObject({ phase: 'probing', probes: 1 });
  });

  // rule: an-outage-waits-for-the-others
  test('within a minute but not at once are the same outage: the first ones wait for the others', async () => {
    const scene = await openWatchdogScene();
    const agents: Working[] = [];
    for (let number = 1; number <= 8; number += 1) agents.push(await work(scene, `${number}`));
    await startWatchdog(scene);
    for (const { journal } of agents.slice(0, 5)) {
      journal.append({ event: 'assistant_message' });
      await scene.clock.advance(12 * SECOND);
    }
    await scene.clock.advance(SILENCE_MS - 2 * MINUTE);
    for (const { journal } of agents.slice(5)) journal.append({ event: 'assistant_message' });
    const affected = agents.slice(0, 5).map(({ session }) => session);
    for (let second = 0; second < 130; second += 1) {
      await scene.clock.advance(SECOND);
      await atRest(scene);
      for (const session of affected) {
        if ((await incidentOf(scene, session))?.step === 'stopping') await releaseRun(scene, session);
      }
    }
    await until(async () => (await outageOf(scene))?.report.state === 'filed');
    await until(() => told(scene).length === 5);
    expect((await outageOf(scene))?.findings[0]?.evidence[0]).toMatch(/^5 of 8/);
    expect(await secondAttempts(scene)).toHaveLength(1);
    expect(issueText(scene, 1)).toContain('provider_outage');
    expect(issueText(scene, 2)).toBe('');
  }, 60_000);
});

/** Issues at two GitHubs: `popoto` is public, `cetacea` is private. @returns the peers, and what the watchdog needs */
async function twoRepositories() {
  const popoto = await startGithubPeer({ repository: 'harbour/popoto', isPrivate: false });
  const cetacea = await startGithubPeer({ repository: 'harbour/cetacea', isPrivate: true });
  for (const peer of [popoto, cetacea]) afterThisTest(() => peer.stop());
  const peers: Record<string, GithubPeer> = { popoto, cetacea };
  const opened: { reporter?: IncidentReporter } = {};
  const reporter: Reporter = {
    report: (incident, session) => must(opened.reporter).report(incident, session),
    noteOutcome: (incident) => must(opened.reporter).noteOutcome(incident),
  };
  const connect = ({ store, clock, logger, folder }: WatchdogScene) => {
    const reporters = Object.entries(peers).map(([projectKey, { url: apiUrl, token, repository }]) => {
      const sink = new GitHubIssues({ apiUrl, token, repository }, clock, new AbortController().signal);
      const records = new StoredIssueRecords<IssueRecord>(store.redis, store.keys);
      const redact = createRedactor([]);
      const one = new ProjectIssues({ projectKey, sink, records, publicDetail: 'names_only', redact, clock, logger });
      return [projectKey, one] as const;
    });
    const issues = { of: (key: string) => new Map(reporters).get(key) ?? null };
    opened.reporter = new IncidentReporter(clock, folder, issues, { trouble: null });
  };
  return { popoto, cetacea, reporter, connect };
}

/** @returns all text at the peer, as people read it: without the strokes that keep Markdown from having an effect */
function writtenAt({ issues }: GithubPeer): string {
  return JSON.stringify(issues()).replaceAll('\\', '');
}

describeWithRedis('an outage that affects sessions of two projects', () => {
  // rule: an-outage-keeps-projects-apart
  test('has an issue in each, which names the sessions of that project and no other, from start to end', async () => {
    const { popoto, cetacea, reporter, connect } = await twoRepositories();
    const projectOf = (number: number) => (number <= 2 ? 'cetacea' : 'popoto');
    const { scene, affected } = await provider(8, 5, { saga: { reporter } }, projectOf);
    connect(scene);
    await fallSilent(scene, affected);
    await until(() => told(scene).length === 5);
    await atRest(scene);
    await scene.clock.advance(5 * SECOND);
    await until(async () => (await incidentOf(scene, must(affected[4])))?.report.state === 'joined');
    await until(async () => (await incidentOf(scene, must(affected[1])))?.report.state === 'joined');
    expect((await incidentOf(scene, must(affected[4])))?.report.url).toBe(popoto.issues()[0]?.url);
    expect((await incidentOf(scene, must(affected[1])))?.report.url).toBe(cetacea.issues()[0]?.url);

    let probe = await startAgain(scene, await untilTriedAgain(scene, 1));
    for (let released = 2; released <= 5; released += 1) {
      await succeed(scene, probe);
      probe = await startAgain(scene, await untilTriedAgain(scene, released));
    }
    await succeed(scene, probe);
    await answerAll(scene);
    await until(async () => (await openIncidents(scene)).length === 0);

    const ids = (sessions: readonly AgentSession[]) => sessions.map(({ session_id }) => `${session_id}\\b`);
    const [ofCetacea, ofPopoto] = [ids(affected.slice(0, 2)), ids(affected.slice(2))];
    for (const [peer, own, others] of [
      [popoto, ofPopoto, ofCetacea],
      [cetacea, ofCetacea, ofPopoto],
    ] as const) {
      expect(peer.issues()).toMatchObject([{ title: expect.stringContaining('provider_outage') }]);
      expect(peer.issues()[0]?.body).toContain('The outage is over; it affected 5 sessions.');
      for (const id of own) expect(writtenAt(peer)).toMatch(new RegExp(id));
      for (const id of others) expect(writtenAt(peer)).not.toMatch(new RegExp(id));
    }
    expect(writtenAt(popoto)).not.toContain('cetacea');
    const heard = eventLines(scene).filter(({ event, final }) => event === 'provider_outage' && final);
    expect(heard.map(({ project_key }) => project_key).sort()).toEqual(['cetacea', 'popoto']);
  }, 60_000);
});

describeWithRedis('an outage of which one message is in its second attempt', () => {
  test('says so of the session that it shows', async () => {
    const { scene, agents } = await provider(8, 0);
    await crash(scene, must(agents[0]).session);
    await atRest(scene);
    await scene.clock.advance(5 * SECOND);
    const second = await startAgain(scene, await untilTriedAgain(scene, 1));
    for (const session of [second.session, ...agents.slice(1, 4).map((one) => one.session)])
      await crash(scene, session);
    await until(async () => (await outageOf(scene)) !== null);
    await atRest(scene);
    await scene.clock.advance(5 * SECOND);
    await until(async () => (await outageOf(scene))?.report.due_at === null);
    expect(await outageOf(scene)).toMatchObject({ session_id: second.session.session_id, attempt: 2 });
    expect(issueText(scene, 2)).toMatch(
      /· provider_outage\n\n- Session: `tg_popoto_-100_1_r1`\n(?:- .*\n)*- Attempt: 2 of 2\n/,
    );
  });
});

describeWithRedis('an outage whose own project has no message in it any more', () => {
  // rule: an-outage-keeps-projects-apart
  test('counts those of other projects, without a list of none', async () => {
    const projectOf = (number: number) => (number >= 2 && number <= 5 ? 'popoto' : 'cetacea');
    const { scene, affected, agents } = await provider(10, 5, {}, projectOf);
    await fallSilent(scene, affected);
    await until(async () => (await outageOf(scene))?.course?.phase === 'probing');
    expect(await outageOf(scene)).toMatchObject({ project_key: 'popoto' });
    await atRest(scene);
    await scene.clock.advance(5 * SECOND);
    for (const session of affected.slice(1)) {
      await until(async () => {
        // Whichever attempt it is in: one of them is tried.
        for (const id of [session.session_id, revivalSessionId(session.session_id)]) {
          await scene.store.transitions.cancel(id, 'Cancelled at your request.');
        }
        return (await incidentOf(scene, session)) === null;
      });
    }
    for (const { session } of agents.slice(5)) await crash(scene, session);
    const sessionsOf = async () => (await outageOf(scene))?.findings[0]?.evidence.at(-1);
    await until(async () => (await sessionsOf())?.includes('6 of other projects') === true);
    expect(await sessionsOf()).toBe('sessions: 6 of other projects');
  });
});

describeWithRedis('no outage', () => {
  // rule: an-outage-needs-many-sick-sessions
  test('are three messages and one that had failed for good just before', async () => {
    const opened: { reporter?: Reporter } = {};
    const reporter: Reporter = {
      report: (incident, session) => must(opened.reporter).report(incident, session),
      // So the incident of the failure stays open.
      noteOutcome: () => Promise.reject(new UnreachableError('away')),
    };
    const { scene, agents } = await provider(8, 0, { saga: { reporter } });
    opened.reporter = scene.reporter;
    await crash(scene, must(agents[0]).session);
    await atRest(scene);
    await scene.clock.advance(5 * SECOND);
    const second = await startAgain(scene, await untilTriedAgain(scene, 1));
    await crash(scene, second.session);
    await atRest(scene);
    await scene.clock.advance(5 * SECOND);
    await until(async () => (await openIncidents(scene)).some(({ note }) => note !== undefined));
    for (const { session } of agents.slice(1, 4)) await crash(scene, session);
    await atRest(scene);
    await scene.clock.advance(5 * SECOND);
    await until(async () => (await outageOf(scene)) !== null || (await secondAttempts(scene)).length === 3);
    expect(await outageOf(scene)).toBeNull();
  });

  // rule: an-outage-needs-many-sick-sessions
  test('are three sessions, or a quarter: each is handled alone', async () => {
    const { scene, affected } = await provider(12, 3);
    await fallSilent(scene, affected);
    await until(async () => (await incidentOf(scene, must(affected[2])))?.step === 'released');
    await atRest(scene);
    await scene.clock.advance(5 * SECOND);
    await until(async () => (await secondAttempts(scene)).length === 3);
    expect(await outageOf(scene)).toBeNull();
    const sixteen = new Map(Array.from({ length: 4 }, (_, index) => [`${index}`, index]));
    expect(correlated(sixteen, 0, 16)).toEqual([]);
    expect(correlated(sixteen, 0, 15)).toHaveLength(4);
    const apart = new Map([...sixteen, ['3', MINUTE + 1]] as const);
    expect(correlated(apart, 0, 4)).toEqual([]);
  });

  // rule: an-outage-needs-many-sick-sessions
  test('is a bridge that dies with five runs: its runs are orphans, each run again at once', async () => {
    const scene = await openWatchdogScene({ saga: { proveDead: async ({ run }) => deathOf(must(run).run_id) } });
    const owner = deadProcess();
    for (let number = 1; number <= 5; number += 1) await runOf(scene, `${number}`, owner);
    await startWatchdog(scene);
    await until(async () => (await secondAttempts(scene)).length === 5);
    expect(await outageOf(scene)).toBeNull();
  });

  test('is silence because the bridge is gone', async () => {
    const scene = await openWatchdogScene();
    const { session } = await work(scene, '1');
    const silent = await openIncident(scene, session, { findings: [findingOf('silence')] });
    expect(signOfOutage(silent)).not.toBeNull();
    expect(signOfOutage({ ...silent, findings: [...silent.findings, findingOf('orphan', 'run_lost')] })).toBeNull();
  });

  test('are two messages that failed twice: each counts once, whatever its attempts', async () => {
    const scene = await openWatchdogScene();
    const first = [await work(scene, '1'), await work(scene, '2')];
    await startWatchdog(scene);
    for (const { session } of first) await crash(scene, session);
    await until(async () => (await secondAttempts(scene)).length === 2);
    for (const session of await secondAttempts(scene)) await crash(scene, (await startAgain(scene, session)).session);
    await atRest(scene);
    expect(await outageOf(scene)).toBeNull();
  });

  // rule: an-outage-needs-many-sick-sessions
  test('are agents that were killed together by a signal', async () => {
    const scene = await openWatchdogScene();
    const agents: Working[] = [];
    for (let number = 1; number <= 5; number += 1) agents.push(await work(scene, `${number}`));
    await startWatchdog(scene);
    for (const { session } of agents) await crash(scene, session, 'run_failed_signal_SIGKILL');
    await until(async () => (await secondAttempts(scene)).length === 5);
    expect(await outageOf(scene)).toBeNull();
  });
});

describeWithRedis('a project that only reports', () => {
  test('keeps its runs: an outage is one issue for all, and ends nothing', async () => {
    const { scene, affected, agents } = await provider(8, 5, { actions: allReport() });
    await scene.clock.advance(MINUTE + 1);
    await until(async () => (await outageOf(scene)) !== null);
    await atRest(scene);
    await scene.clock.advance(5 * SECOND);
    await until(async () => (await outageOf(scene))?.report.state === 'filed');
    await until(async () => (await incidentOf(scene, must(affected[4])))?.report.state === 'joined');
    await atRest(scene);
    for (const session of affected) {
      expect(await scene.store.records.session(session.session_id)).toMatchObject({ status: 'active', stop: null });
    }
    expect(told(scene)).toEqual([]);
    expect(issueText(scene, 2)).toBe('');
    for (const { journal, session } of agents) {
      journal.append({ event: 'assistant_message' });
      await publishWake(scene.store, { session: session.session_id });
    }
    await until(async () => (await openIncidents(scene)).length === 0);
  });

  // rule: an-outage-keeps-projects-apart
  test('is not affected beside one that acts, and its messages are not used as probes', async () => {
    const reporting = { thresholds: DEFAULT_THRESHOLDS, actions: { ...DEFAULT_ACTIONS, silence: 'report' } as const };
    const rulesOf = (key: string) => (key === 'cetacea' ? reporting : null);
    const { scene, affected } = await provider(8, 5, { rulesOf }, (number) => (number <= 2 ? 'cetacea' : 'popoto'));
    await fallSilent(scene, affected.slice(2));
    const probe = await firstProbe(scene);
    expect(probe.project_key).toBe('popoto');
    await until(() => told(scene).length === 3);
    await until(async () => (await incidentOf(scene, must(affected[0])))?.hold !== undefined);
    await atRest(scene);
    for (const { session_id } of affected.slice(0, 2)) {
      expect(await scene.store.records.session(session_id)).toMatchObject({ status: 'active', stop: null });
    }
  });
});

function deathOf(runId: string) {
  return { run_id: runId, proven_at: 0, by: 'scan' } as const;
}
