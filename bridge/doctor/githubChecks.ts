/** Checks whether issues can be filed. Asks GitHub, changes nothing there. */
import { Octokit } from '@octokit/rest';
import { ARCHIVED, asSinkError } from '../../monitoring/incident/issue/githubRepository.js';
import { type SinkError, WATCHDOG_LABEL } from '../../monitoring/incident/issue/issueSink.js';
import type { Project, Settings } from '../../src/config/settings.js';
import { type Clock, SECOND } from '../../src/time.js';
import { type CheckResult, fault, ok, skipped, unchecked, warning } from './checkResult.js';

const REQUEST_TIMEOUT_MS = 10 * SECOND;
const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

type Repository = Awaited<ReturnType<Octokit['rest']['repos']['get']>>['data'];

export async function checkGitHub({ github, projects }: Settings, clock: Clock): Promise<CheckResult[]> {
  const byRepository = new Map<string, Project[]>();
  for (const project of projects.values()) {
    if (project.repository === null) continue;
    byRepository.set(project.repository, [...(byRepository.get(project.repository) ?? []), project]);
  }
  const name = 'github';
  if (github === null) {
    if (byRepository.size === 0) return [skipped(name, 'GITHUB_TOKEN is not set: issues are files in logs/issues')];
    const words = `GITHUB_TOKEN is not set: issues for ${[...byRepository.keys()].join(', ')} are files in logs/issues`;
    return [
      warning(
        name,
        words,
        'set GITHUB_TOKEN or GITHUB_TOKEN_FILE: a fine-grained token for these repositories with "Issues: read and write"',
      ),
    ];
  }
  if (byRepository.size === 0) {
    const words = 'GITHUB_TOKEN is set, but no project names a repository: issues are files in logs/issues';
    return [warning(name, words, 'give the projects a `repository`, "owner/name"')];
  }
  const octokit = new Octokit({ baseUrl: github.apiUrl, auth: github.token, userAgent: 'watchkeeper', log: SILENT });
  const found = [...byRepository].map(([repository, served]) => checkRepository(octokit, repository, served, clock));
  return (await Promise.all(found)).flat();
}

async function checkRepository(
  octokit: Octokit,
  fullName: string,
  projects: readonly Project[],
  clock: Clock,
): Promise<CheckResult[]> {
  const name = `github ${fullName}`;
  const [owner = '', repo = ''] = fullName.split('/');
  const limit = new AbortController();
  const timer = clock.after(REQUEST_TIMEOUT_MS, () => limit.abort(new Error('no answer within 10 s')));
  const target = { owner, repo, request: { signal: limit.signal } };
  try {
    const { data } = await octokit.rest.repos.get(target);
    const unusable = checkUsable(name, data);
    if (unusable !== null) return [unusable];
    if (hasOtherName(data, fullName)) return [renamed(name, data.full_name)];
    return [
      await checkMayWrite(octokit, target, name),
      await checkMayLabel(octokit, target, name, data),
      checkVisibility(name, data, projects),
    ];
  } catch (error) {
    return [complaint(name, asSinkError(error, 'repeatable', fullName, clock.now()))];
  } finally {
    timer.cancel();
  }
}

/** GitHub ignores the case of letters. */
function hasOtherName({ full_name }: Repository, fullName: string): boolean {
  return typeof full_name === 'string' && full_name.toLowerCase() !== fullName.toLowerCase();
}

function renamed(name: string, fullName: string): CheckResult {
  const words = `the repository was renamed to ${fullName}: issues are filed there`;
  return warning(name, words, `put "${fullName}" into \`repository\`, because somebody else may take the old name`);
}

function archived(name: string): CheckResult {
  return fault(name, 'the repository is archived: no issue can be filed', 'unarchive it, or set another `repository`');
}

function checkUsable(name: string, data: Repository): CheckResult | null {
  if (data.archived) return archived(name);
  if (data.has_issues === false) {
    return fault(
      name,
      'issues are disabled in the repository',
      'enable them (Settings, Features, Issues), or set another `repository`',
    );
  }
  return null;
}

type Target = { readonly owner: string; readonly repo: string; readonly request: { readonly signal: AbortSignal } };

/** A fine-grained token does not show its rights, so one is tried: an issue without a title, which GitHub refuses (422). */
async function checkMayWrite(octokit: Octokit, target: Target, name: string): Promise<CheckResult> {
  const check = `${name} issues`;
  const refusal = await octokit.request('POST /repos/{owner}/{repo}/issues', { ...target, title: '' }).then(
    () => null,
    (error: unknown) => asSinkError(error, 'repeatable', `${target.owner}/${target.repo}`, 0),
  );
  if (refusal?.status === 422) return ok(check, 'the token may write issues');
  if (refusal !== null && ARCHIVED.test(refusal.message)) return archived(check);
  if (refusal?.kind === 'refused' && (refusal.status === 403 || refusal.status === 404)) {
    return fault(
      check,
      `the token may not write issues (${refusal.status})`,
      'give it "Issues: read and write" for this repository (a classic token: the scope `repo`)',
    );
  }
  return unchecked(check, refusal?.message ?? 'GitHub does not say whether the token may write issues');
}

/** Setting a label needs the role triage; creating it, which happens once, the role write. */
async function checkMayLabel(
  octokit: Octokit,
  target: Target,
  name: string,
  { permissions }: Repository,
): Promise<CheckResult> {
  const check = `${name} label`;
  const { triage = false, push = false, admin = false } = permissions ?? {};
  const mayCreate = permissions === undefined || push || admin;
  if (!mayCreate && !triage) {
    const words = "the token's owner may not set labels: issues are filed without one";
    return warning(check, words, "give the token's owner the triage or write role in this repository");
  }
  const label = await lookForLabel(octokit, target);
  if (label === 'there') return ok(check, `the label ${WATCHDOG_LABEL} is there`);
  if (label !== 'missing') return unchecked(check, `whether the label ${WATCHDOG_LABEL} is there: ${label.message}`);
  if (mayCreate) return ok(check, `the label ${WATCHDOG_LABEL} will be created`);
  return warning(
    check,
    `the label ${WATCHDOG_LABEL} does not exist, and the token's owner may not create it`,
    `make the label ${WATCHDOG_LABEL} by hand`,
  );
}

/** @returns the error if GitHub did not say */
async function lookForLabel(octokit: Octokit, target: Target): Promise<'there' | 'missing' | SinkError> {
  try {
    await octokit.rest.issues.getLabel({ ...target, name: WATCHDOG_LABEL });
    return 'there';
  } catch (thrown) {
    const error = asSinkError(thrown, 'repeatable', `${target.owner}/${target.repo}`, 0);
    return error.status === 404 ? 'missing' : error;
  }
}

function checkVisibility(name: string, data: Repository, projects: readonly Project[]): CheckResult {
  const check = `${name} visibility`;
  if (data.private === true || data.visibility === 'internal') return ok(check, 'the repository is private');
  const open = projects.filter(({ publicDetail }) => publicDetail === 'full').map(({ key }) => key);
  if (open.length === 0) return ok(check, 'public: issues show only tool names, times and outcomes');
  return warning(
    check,
    `the repository is public, and ${open.join(', ')} shows everyone what its agents read and write`,
    'unless that is intended, set `publicDetail` to "names_only" or make the repository private',
  );
}

function complaint(name: string, error: SinkError): CheckResult {
  switch (error.status) {
    case 401:
      return fault(
        name,
        'GitHub refuses the token (401)',
        'create a new one (Settings, Developer settings) and update GITHUB_TOKEN; tokens expire',
      );
    case 404:
      return fault(
        name,
        'the repository does not exist, or the token cannot see it (404)',
        'correct `repository`, or give the token access',
      );
    default:
      return fault(
        name,
        error.message,
        'check the network and GITHUB_API_URL (no proxy is used); then run the doctor again',
      );
  }
}
