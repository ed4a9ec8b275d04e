/** Which line of an output says most of why a call failed. */
import { stripVTControlCharacters } from 'node:util';

/** Lines of an error among which the one that says most is looked for. */
const MOST_LINES = 40;
/** The agent's program puts its own words before those of the command. */
const FRAME = /^(?:Error: )?(?:Exit code:?|Process exited with code) (-?\d+)\s*/i;
const MARK = /<\/?tool_use_error>/g;
/** Package managers say first which script they run. */
const BANNER = /^(?:>|\$ |yarn run |#)/;
const PYTHONS = /^Traceback \(most recent call last\)/;
const PYTHON_ERROR = /^[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit|Warning)\b/;
/** Words with which compilers, test runners and shells begin or mark the line of an error. */
const FAULT =
  /^(?:fail(?:ed|ure)?\b|fatal\b|error\b|panic|✗|✘|×|✖|●|E\s{2,}|npm (?:err!|error)|err!)|\b(?:error|exception)\b\s*(?:\[?\w*\]?)?:|\bcommand not found\b|\bno such file\b|\bpermission denied\b|\bcannot (?:find|open)\b|\bnot found$|\bE[A-Z]{4,}\b/i;

/** @returns the line of an error that says most: the first that is marked as one, else the first of the command; its exit code if it said nothing */
export function faultLine(output: string): string {
  const text = stripVTControlCharacters(output.replace(MARK, '')).trim();
  const code = FRAME.exec(text)?.[1];
  const lines = text
    .replace(FRAME, '')
    .split('\n', MOST_LINES)
    .map((line) => line.trim())
    .filter((line) => /[\p{L}\d]/u.test(line) && !BANNER.test(line));
  const marked = lines.find((line) => FAULT.test(line) || PYTHONS.test(line));
  const found =
    marked !== undefined && PYTHONS.test(marked) ? lines.findLast((line) => PYTHON_ERROR.test(line)) : marked;
  return found ?? lines[0] ?? (code === undefined ? '' : `exit code ${code}`);
}
