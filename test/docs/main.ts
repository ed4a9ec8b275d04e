/** `npm run rules`: writes rules.md, which is no part of the repository. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/host/program.js';
import { RULES_FILE, RULES_PAGE, readTags, renderRules, rulesIn } from './rules.js';

const root = packageRoot();
const rules = rulesIn(readFileSync(join(root, RULES_FILE), 'utf8'));
const tags = readTags(root);
writeFileSync(join(root, RULES_PAGE), renderRules(rules, tags));
process.stdout.write(`${RULES_PAGE}: ${rules.length} rules, ${tags.length} tests\n`);
