/**
 * A GitHub for tests and the demo: `emulate` keeps the issues, and a proxy of ours in front of it breaks connections on
 * order, keeps the token and GitHub's limits, and logs every write.
 */

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Clock, systemClock } from '../../../src/time.js';
import { FaultPlan, type InjectedFault } from '../faultPlan.js';
import { jsonLines } from '../jsonLines.js';
import { listenOnLoopback } from '../loopback.js';
import { Watchers } from '../watchers.js';
import { applies, type FaultyRequest, type GithubFault } from './faults.js';
import { type PeerIssue, readIssues } from './issues.js';
import { githubProxy, isWrite, type SeenRequest } from './proxy.js';
import { type Identity, startUpstream, type Upstream, type UpstreamAnswer } from './upstream.js';

export interface GithubPeerOptions {
  /** `owner/name`. */
  readonly repository: string;
  /** The product's token; any other is answered with 401. */
  readonly token?: string;
  /** Public unless told. */
  readonly isPrivate?: boolean;
  /** Where every write is logged, one JSON object per line. */
  readonly logFile?: string;
  /** Dates the log; the issues themselves carry the real time. */
  readonly clock?: Pick<Clock, 'now'>;
}

/** Everything at the server that is worth keeping; survives JSON. */
export interface GithubState {
  readonly repository: string;
  readonly issues: readonly PeerIssue[];
  readonly writes: readonly SeenRequest[];
}

export interface GithubPeer {
  /** For Octokit's `baseUrl`. */
  readonly url: string;
  readonly token: string;
  readonly repository: string;
  /** Breaks every connection, rejects whoever still waits; resolves when the ports are free. */
  stop(): Promise<void>;

  /** The issues as they stand at GitHub, by number; up to date before the writer hears of its write. */
  issues(): readonly PeerIssue[];
  /** Every request, in order. */
  readonly requests: readonly SeenRequest[];
  /** Those of them that would change something. */
  readonly writes: readonly SeenRequest[];

  /** A maintainer files an issue; as the `product`, an earlier one of the product did. @returns its number */
  openIssue(issue: {
    readonly as?: 'product' | 'maintainer';
    readonly title: string;
    readonly body?: string;
    readonly labels?: readonly string[];
  }): Promise<number>;
  /** A maintainer closes an issue. */
  closeIssue(number: number, reason: 'completed' | 'not_planned'): Promise<void>;
  /** A maintainer opens a closed issue again. */
  reopenIssue(number: number): Promise<void>;
  /** A maintainer gives an issue another title. */
  renameIssue(number: number, title: string): Promise<void>;
  /** A maintainer makes the repository private or public. */
  setPrivate(isPrivate: boolean): Promise<void>;
  /** The repository once had another name: GitHub redirects from there, a POST as well. */
  redirectFrom(formerName: string): void;

  /** Orders a fault for the next matching requests. */
  inject(fault: GithubFault): InjectedFault;
  /**
   * Resolves with the predicate's first truthy value, on the event that makes it true.
   * @param timeoutMs real milliseconds, 5,000 by default
   * @throws Error after the timeout, with the last requests
   */
  waitFor<T>(predicate: () => T | false | null | undefined, timeoutMs?: number): Promise<T>;
  state(): GithubState;
  /** Writes the state as JSON, creating the folder. */
  saveState(file: string): void;
}

const DEFAULT_TOKEN = 'ghp_peerTokenThatOpensNothingElse0000000';
const DEFAULT_WAIT_MS = 5_000;
const SHOWN_ON_TIMEOUT = 10;

/** Starts both servers on free loopback ports. Nothing is shared between two peers. */
export async function startGithubPeer(options: GithubPeerOptions): Promise<GithubPeer> {
  const { repository } = options;
  const token = options.token ?? DEFAULT_TOKEN;
  const upstream = await startUpstream(repository, options.isPrivate ?? false, () => proxy.url);
  const watchers = new Watchers();
  const faults = new FaultPlan<GithubFault, FaultyRequest>();
  const requests: SeenRequest[] = [];
  const formerNames = new Map<string, string>();
  const log = jsonLines<SeenRequest>(options.logFile);
  const mirror = new IssueMirror(upstream, repository);
  const proxy = await listenOnLoopback(
    githubProxy({
      upstream,
      token,
      clock: options.clock ?? systemClock,
      faults,
      requests,
      formerNames,
      async settled(request) {
        if (isWrite(request)) {
          await mirror.refresh();
          log(request);
        }
        watchers.check();
      },
    }),
  );
  const maintain = async (
    method: string,
    path: string,
    body: object,
    as: Identity = 'maintainer',
  ): Promise<UpstreamAnswer> => {
    const request = { method, path: `/repos/${repository}${path}`, body: JSON.stringify(body) };
    const answer = await upstream.request(request, as);
    if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    await mirror.refresh();
    watchers.check();
    return answer;
  };
  const writes = () => requests.filter(isWrite);
  const state = (): GithubState => structuredClone({ repository, issues: mirror.issues, writes: writes() });
  return {
    url: proxy.url,
    token,
    repository,
    async stop() {
      watchers.stop();
      await proxy.stop();
      await upstream.stop();
    },
    issues: () => mirror.issues,
    requests,
    get writes() {
      return writes();
    },
    async openIssue({ as, ...issue }) {
      const answer = await maintain('POST', '/issues', issue, as);
      return JSON.parse(answer.text).number;
    },
    async closeIssue(number, reason) {
      await maintain('PATCH', `/issues/${number}`, { state: 'closed', state_reason: reason });
    },
    async reopenIssue(number) {
      await maintain('PATCH', `/issues/${number}`, { state: 'open' });
    },
    async renameIssue(number, title) {
      await maintain('PATCH', `/issues/${number}`, { title });
    },
    async setPrivate(isPrivate) {
      await maintain('PATCH', '', { private: isPrivate });
    },
    redirectFrom: (formerName) => void formerNames.set(formerName, repository),
    inject: (fault) => faults.add(fault, (request) => applies(fault, request), fault.times ?? 1),
    waitFor: (predicate, timeoutMs = DEFAULT_WAIT_MS) =>
      watchers.waitFor(predicate, timeoutMs, () => describe(requests)),
    state,
    saveState(file) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `${JSON.stringify(state(), null, 2)}\n`);
    },
  };
}

/** The last reading of the issues, so that predicates need not wait for one. Readings follow one another. */
class IssueMirror {
  issues: readonly PeerIssue[] = [];
  readonly #upstream: Upstream;
  readonly #repository: string;
  #reading: Promise<void> = Promise.resolve();

  constructor(upstream: Upstream, repository: string) {
    this.#upstream = upstream;
    this.#repository = repository;
  }

  refresh(): Promise<void> {
    this.#reading = this.#reading.catch(() => {}).then(() => this.#read());
    return this.#reading;
  }

  async #read(): Promise<void> {
    this.issues = await readIssues(this.#upstream, this.#repository);
  }
}

function describe(requests: readonly SeenRequest[]): string {
  const lines = requests.slice(-SHOWN_ON_TIMEOUT).map((request) => JSON.stringify(request));
  return ['the last requests:', ...lines].join('\n');
}
