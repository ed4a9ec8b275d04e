/** What the texts call the command line: npm's registry must never be asked for a program of its name. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { packageRoot } from '../../src/host/program.js';

const FOLDERS = ['src', 'memory', 'monitoring', 'bridge', 'docs', 'deploy', 'test/demo'];
const FILES = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'logs/README.md',
  '.env.example',
  'docker-compose.yml',
  'Dockerfile',
];

describe('the command line', () => {
  test('is not started with npx in any text for people, including the output of the product', () => {
    const paths = [...FILES, ...FOLDERS.flatMap(filesBelow)];
    expect(paths.length).toBeGreaterThan(200);
    expect(paths.filter((path) => /\bnpx [^\n]*watchkeeper/.test(read(path)))).toEqual([]);
  });

  test('comes in a package that has a scope, and that nobody can publish by mistake', () => {
    const { name, private: isPrivate, bin } = JSON.parse(read('package.json'));
    const lock = JSON.parse(read('package-lock.json'));
    expect(name).toMatch(/^@watchkeeper\//);
    expect(isPrivate).toBe(true);
    expect(Object.keys(bin)).toEqual(['watchkeeper', 'session-tracker']);
    expect([lock.name, lock.packages[''].name]).toEqual([name, name]);
  });
});

function filesBelow(folder: string): string[] {
  return readdirSync(join(packageRoot(), folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(packageRoot().length + 1));
}

function read(path: string): string {
  return readFileSync(join(packageRoot(), path), 'utf8');
}
