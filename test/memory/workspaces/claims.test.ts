/** A log that was read is read on: nobody sees less than if it were read anew. */
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { memoryScene } from '../scene.js';

test('what another process writes is seen, and a state that was handed out stays as it was', () => {
  const scene = memoryScene();
  const [one, other] = [scene.open(), scene.open()];
  const { workspace } = one;
  one.claims.enter(workspace, 'a');
  const before = one.claims.read(workspace);
  other.claims.enter(workspace, 'b');
  other.claims.note(workspace, 'pinned', 'high');
  const after = one.claims.read(workspace);
  expect([...(before?.sessions ?? [])]).toEqual(['a']);
  expect(before?.notes).toEqual([]);
  expect([...(after?.sessions ?? [])]).toEqual(['a', 'b']);
  expect(after?.notes.map(({ text }) => text)).toEqual(['pinned']);
});

test('a log that was removed, or replaced by another one, is read from its beginning', () => {
  const { claims, workspace, places } = memoryScene().open();
  const path = places.workspaceLog(workspace.id);
  claims.enter(workspace, 'a');
  const former = readFileSync(path, 'utf8');
  rmSync(path);
  expect(claims.read(workspace)).toBeNull();
  claims.enter(workspace, 'b');
  expect([...(claims.read(workspace)?.sessions ?? [])]).toEqual(['b']);
  writeFileSync(path, '');
  expect([...(claims.read(workspace)?.sessions ?? [])]).toEqual([]);
  rmSync(path);
  writeFileSync(path, `${former}${former.replaceAll('"a"', '"c"').replaceAll('"id":"', '"id":"x')}`);
  expect([...(claims.read(workspace)?.sessions ?? [])]).toEqual(['a', 'c']);
});

test('a process that has not read the log reads only its notes, as every reader of it does', () => {
  const scene = memoryScene();
  const writer = scene.open();
  const { workspace } = writer;
  for (let index = 0; index < 20; index += 1) writer.claims.enter(workspace, `s${index}`);
  writer.claims.note(workspace, 'says "event":"session" and "event":"note"', 'high');
  writer.claims.leaveReport(workspace, 's1', 'left {"event":"note","text":"no note"}');
  writer.claims.note(workspace, 'grüße', 'normal');
  const texts = ['says "event":"session" and "event":"note"', 'grüße'];
  const { claims } = scene.open();
  expect(claims.notes(workspace).map(({ text }) => text)).toEqual(texts);
  expect(claims.find(workspace.id)).toEqual(workspace);
  expect(claims.read(workspace)?.sessions.size).toBe(20);
  expect(claims.notes(workspace)).toEqual(claims.read(workspace)?.notes);
  writer.claims.note(workspace, 'later', 'normal');
  expect(claims.notes(workspace).map(({ text }) => text)).toEqual([...texts, 'later']);
});
