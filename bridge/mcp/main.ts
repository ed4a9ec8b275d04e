/** Starts the MCP server. The build makes a module of the older form of it, which has `require` and `__dirname`. */
import { startCompiled } from '../command/compiled.js';

startCompiled(`${__dirname}/program.cjs`, require);
