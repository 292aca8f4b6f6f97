/** The pages are committed as built, so that `npm start` needs no tools to build them. Are they those of the sources? */
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';

const web = fileURLToPath(new URL('../../src/console/web', import.meta.url));
const dist = join(web, '../dist');
const largestFirstLoadBytes = 250_000;

let built: string;
beforeAll(() => {
  built = mkdtempSync(join(tmpdir(), 'console-build-'));
  // In a process of its own: the mode is the whole process's.
  const vite = join(web, '../../../node_modules/vite/bin/vite.js');
  const { status, stderr } = spawnSync(process.execPath, [vite, 'build', web, '--outDir', built, '--logLevel', 'warn']);
  if (status !== 0) throw new Error(String(stderr));
});
afterAll(() => rmSync(built, { recursive: true }));

const filesOf = (folder: string) =>
  Object.fromEntries(
    globSync('**/*.*', { cwd: folder })
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
  );

it('the committed pages are built from the sources: else run `npm run build:console`', () => {
  const committed = filesOf(dist);
  expect(Object.keys(committed).length).toBeGreaterThan(5);
  const fresh = filesOf(built);
  expect(Object.keys(committed)).toEqual(Object.keys(fresh));
  expect(Object.keys(fresh).filter((name) => fresh[name] !== committed[name])).toEqual([]);
});

/** A file and all that it imports statically. */
function closureOf(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found;
  found.add(name);
  const text = readFileSync(join(dist, name), 'utf8');
  for (const [, imported] of text.matchAll(/(?:from|import)\s*["'`]\.\/([\w.-]+\.js)["'`]/g))
    closureOf(`assets/${imported}`, found);
  return found;
}

it('the landing page and the studio together load less than the limit', () => {
  const page = readFileSync(join(dist, 'index.html'), 'utf8');
  const named = [...page.matchAll(/(?:src|href)="\/(assets\/[\w.-]+)"/g)].map(([, name]) => name ?? '');
  expect(named.length).toBeGreaterThan(1);
  const loaded = new Set(['index.html', 'assets/studio.css']);
  for (const name of [...named, 'assets/studio.js'])
    if (name.endsWith('.js')) for (const file of closureOf(name)) loaded.add(file);
    else loaded.add(name);
  const weight = [...loaded]
    .map((name) => gzipSync(readFileSync(join(dist, name)), { level: 9 }).length)
    .reduce((sum, length) => sum + length, 0);
  expect(weight).toBeGreaterThan(100_000);
  expect(weight).toBeLessThan(largestFirstLoadBytes);
});

it('names no other host', () => {
  const names = Object.values(filesOf(dist)).flatMap((text) => [...text.matchAll(/(?:src|href)=["']https?:[^"']+/g)]);
  expect(names.map(([text]) => text)).toEqual([]);
});
