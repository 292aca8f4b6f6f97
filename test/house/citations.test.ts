/** Code, tests and docs cite pages of `docs/` by heading. Every citation resolves to a heading in this repository. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const find = (...patterns: string[]) =>
  globSync(patterns, { cwd: root, exclude: ['**/node_modules/**', 'src/console/dist/**'] });

const pages = find('*.md', 'docs/**/*.md');
/** Heading anchors by page, as Git hosts derive them: lower case, punctuation dropped, spaces to hyphens. */
const anchors = new Map(
  pages.map((page) => {
    const headings = read(page)
      .replaceAll(/^```[\s\S]*?^```$/gm, '')
      .matchAll(/^#+ (.+)$/gm);
    return [page, new Set([...headings].map(([, heading = '']) => anchorOf(heading)))];
  }),
);

function anchorOf(heading: string): string {
  return heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

const citing = find('{src,test,bench,examples}/**/*.{ts,tsx,sql,mjs}', 'deploy/**/*', '*.mjs', '.ci/*').filter(
  (path) => !path.startsWith('test/house/') && /\.|\/run$/.test(path),
);

describe('citations', () => {
  it('in code name a page and a heading of docs/', () => {
    const broken = citing.flatMap((path) =>
      [...read(path).matchAll(/\bdocs\/([\w/-]+\.md)(?:#([\w-]+))?/g)]
        .filter(([, page, anchor]) => {
          const known = anchors.get(`docs/${page}`);
          return known === undefined || (anchor !== undefined && !known.has(anchor));
        })
        .map(([citation]) => `${path}: ${citation}`),
    );
    expect(broken).toEqual([]);
  });

  it('in pages link to a heading that exists', () => {
    const broken = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\((?!https?:)([^)#\s]*)#([^)\s]+)\)/g)]
        .filter(([, target = '', anchor = '']) => {
          const path = target === '' ? page : posix.join(posix.dirname(page), target);
          return path.endsWith('.md') && anchors.get(path)?.has(anchor) !== true;
        })
        .map(([link]) => `${page}: ${link}`),
    );
    expect(broken).toEqual([]);
  });

  it('name only files of the repository', () => {
    const outside = /\bCONTRACT(-2)?\b ?§|\b[Dd]ocument 00\d\b|\bHOUSE\.md\b/;
    expect([...citing, ...pages].filter((path) => outside.test(read(path)))).toEqual([]);
  });
});
