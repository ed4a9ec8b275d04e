/** `npm run prove -- failures` prints how the words of agent programs are read: the wording, its version, its cause, and its end. */
import { passes, readWords } from '../../bridge/agents/failures/wording.js';
import { isoTime } from '../../src/time.js';
import {
  AGENT_PROGRAMS,
  type AgentProgramName,
  READ_AT,
  READ_IN,
  SEEN_WORDINGS,
  type SeenWording,
  WORDINGS,
} from '../bridge/agents/failures/wordings.js';
import { proofOptions } from '../harness/proofOptions.js';

proofOptions('failures', {});
const LONGEST_WORDING = 110;
const reading = { now: Date.parse(READ_AT), zone: READ_IN };

function row({ program, seen, words, cause, ends }: SeenWording): string {
  const said = readWords(words, WORDINGS[program], reading);
  const until = said?.until === undefined ? null : isoTime(said.until);
  const isRight = said?.cause === cause && until === ends;
  const shown = words.replaceAll('\n', ' ').replaceAll('|', '\\|');
  const short = shown.length > LONGEST_WORDING ? `${shown.slice(0, LONGEST_WORDING)}…` : shown;
  const read = `${said?.cause ?? 'crash'} | ${passes(said?.cause ?? 'crash') ? 'yes' : 'no'} | ${until ?? '-'}`;
  return `| ${short} | ${seen} | ${read} | ${said?.remedy ?? '-'} |${isRight ? '' : ` WRONG: ${cause}, ${ends}`}`;
}

function table(program: AgentProgramName): string[] {
  const rows = SEEN_WORDINGS.filter((each) => each.program === program).map(row);
  return [
    `## ${program}`,
    '',
    '| wording | version | cause | passes | end | what a person can do |',
    '|---|---|---|---|---|---|',
    ...rows,
    '',
  ];
}

const lines = [`Read at ${READ_AT} in ${READ_IN}.`, '', ...AGENT_PROGRAMS.flatMap(table)];
const wrong = lines.filter((line) => line.includes(' WRONG: ')).length;
process.stdout.write(`${lines.join('\n')}\n${SEEN_WORDINGS.length} wordings, ${wrong} read wrongly\n`);
process.exitCode = wrong === 0 ? 0 : 1;
