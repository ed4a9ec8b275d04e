import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { Places } from '../../../memory/home/places.js';
import { settingsTrouble } from '../../../memory/home/recordable.js';
import { readMemorySettings } from '../../../memory/home/settings.js';
import { UnreachableError, UsageError } from '../../../src/errors.js';
import { redactShapes } from '../../../src/log/redact.js';
import { testFolder } from '../../harness/folder.js';

function settingsFrom(text: string | null) {
  const home = testFolder();
  if (text !== null) writeFileSync(join(home, 'settings.json'), text);
  return readMemorySettings(home, redactShapes);
}

test('without a file everything is as documented, and a file may name only what differs', () => {
  expect(settingsFrom(null)).toMatchObject({
    freshness: { resumable_h: 1, stale_h: 48, critical_h: 168, archivable_h: 720 },
    keep_days: 90,
    texts: true,
  });
  expect(settingsFrom('{"context":{"root":0}}').context).toMatchObject({ root: 0, revival: 6_000 });
});

test('falling thresholds and every other fault are in one message, which names the keys', () => {
  const faulty = { freshness: { stale_h: 200, archivable_h: 10 }, keep_days: 0, text: false };
  expect(() => settingsFrom(JSON.stringify(faulty))).toThrow(UsageError);
  expect(() => settingsFrom(JSON.stringify(faulty))).toThrow(
    /4 faults:[\s\S]*critical_h: must be more than[\s\S]*keep_days: must be more than 0; given 0[\s\S]*"text"/,
  );
  expect(() => settingsFrom(JSON.stringify({ freshness: faulty.freshness }))).toThrow(
    /2 faults:[\s\S]*freshness.critical_h: must be more than freshness.stale_h \(200\)[\s\S]*freshness.archivable_h/,
  );
  expect(() => settingsFrom(JSON.stringify({ keep_days: 0, text: false }))).toThrow(
    /keep_days[\s\S]*unknown key "text"/,
  );
});

test('what is no JSON, or no file, says so', () => {
  expect(() => settingsFrom('{')).toThrow(/is not JSON/);
  const home = testFolder();
  mkdirSync(join(home, 'settings.json'));
  expect(() => readMemorySettings(home, redactShapes)).toThrow(UnreachableError);
});

test('settings that cannot be used keep everything from being recorded, and one line says why', () => {
  const home = testFolder();
  const settings = join(home, 'settings.json');
  const found = (text: string) => {
    writeFileSync(settings, text);
    return settingsTrouble(new Places(home))?.found;
  };
  expect(found('{"keep_days":7}')).toBeUndefined();
  expect(found('{"keep_days":"x"}')).toBe(`${settings} has a fault: keep_days: must be a number; given "x"`);
  expect(found('{"keep_days":0,"text":1}')).toMatch(/^\S+ has 2 faults: keep_days: .*; given 0, and \S+: unknown key/);
  rmSync(settings);
  mkdirSync(settings);
  expect(settingsTrouble(new Places(home))?.found).toMatch(/^\S+ cannot be read: it is a directory/);
});
