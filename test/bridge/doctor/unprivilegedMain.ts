/**
 * Looks at folders as a user who owns none of them: root may write everywhere. Usage:
 * `unprivilegedMain.js LOGS_FOLDER DIRECTORY…`. Writes the results as JSON.
 */
import { checkDirectory, checkLogsFolder } from '../../../bridge/doctor/folderChecks.js';

const NOBODY = 65_534;

const [logsFolder = '', ...directories] = process.argv.slice(2);
// Here, after everything is loaded: the package itself may be closed to that user.
if (process.getuid?.() === 0) {
  process.setgid?.(NOBODY);
  process.setuid?.(NOBODY);
}
const environment = { PATH: process.env.PATH ?? '' };
const results = [
  ...(await checkLogsFolder(logsFolder, true)),
  ...(await checkLogsFolder(logsFolder, false)),
  ...(await Promise.all(directories.map((path) => checkDirectory('yard', path, environment)))),
];
process.stdout.write(JSON.stringify(results));
