/** Comments use plain words (CONTRIBUTING.md#style). */
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { parseSync } from 'vite';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Words outside the style of this project, with common replacements. */
const replacements: Readonly<Record<string, string>> = {
  anew: 'again',
  whoever: 'the caller, the user, the process',
  somebody: 'another user, another process',
  nobody: 'no caller, no user',
  anybody: 'any user, every caller',
  everybody: 'all users',
  meanwhile: 'in the meantime',
  told: 'notified, configured, returned',
  tell: 'report, return, notify',
  tells: 'reports, returns, notifies',
  asks: 'requests, calls',
  says: 'reports, states, contains',
  kept: 'stored, retained',
  stands: 'is',
  lies: 'is',
  likewise: 'also',
  hitherto: 'until now',
  unasked: 'by default',
  'as may be': '(omit)',
  'by itself': 'automatically',
  'so long': 'this long',
  deed: 'operation, action',
  judged: 'checked, decided',
  said: 'reported, returned',
  afterwards: 'then, after it',
  'asked after': 'polled',
  'in the hands of': '(name the process)',
  'looked at': 'read, checked',
  'once more': 'again',
};

/** Generated from the OpenAPI documents, whose descriptions are part of the API. */
const generated = /^src\/client\/\w+\/(api|calls)\.ts$/;

const files = globSync(['src/**/*.{ts,tsx}', 'test/**/*.ts', 'bench/**/*.ts'], {
  cwd: root,
  exclude: ['**/node_modules/**'],
}).map((path) => path.replaceAll('\\', posix.sep));
const forbidden = new RegExp(`\\b(?:${Object.keys(replacements).join('|')})\\b`, 'gi');

function findWords(path: string): readonly string[] {
  const text = readFileSync(join(root, path), 'utf8');
  // Most files have none of the words, and need not be parsed.
  if (text.search(forbidden) < 0) return [];
  return parseSync(path, text).comments.flatMap(({ value, start }) =>
    // Names of the code are not prose.
    [...value.replaceAll(/`[^`]*`/g, '').matchAll(forbidden)].map(
      ([word]) => `${path}:${text.slice(0, start).split('\n').length}: ${word}`,
    ),
  );
}

describe('comments', () => {
  const written = files.filter((path) => !generated.test(path));

  it('use plain words', () => {
    expect(written.length).toBeGreaterThan(500);
    expect(written.flatMap(findWords)).toEqual([]);
  });
});
