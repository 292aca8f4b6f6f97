/**
 * The fenced blocks of README and docs/. The tag determines the check: `sh` runs against a running suite, `ts` is
 * type-checked, `diff` is applied, `json`, `yaml`, `env` and `ini` are parsed, `sql` runs on PostgreSQL, and `text` is for readers only. A comment before a
 * block of `ts` declares what it assumes: `<!-- given … -->`.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../acceptance/running.fixture.ts';

export interface Block {
  readonly page: string;
  readonly line: number;
  readonly tag: string;
  readonly text: string;
  readonly given: string;
}

/** The client's tests run its blocks as one program, with the installed package. */
const ofTheClient = 'docs/client.md';

const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  ...globSync('docs/{,guides/}*.md', { cwd: root }),
].sort();

export const blocks: readonly Block[] = pages.filter((page) => page !== ofTheClient).flatMap(blocksOf);

function blocksOf(page: string): readonly Block[] {
  const text = readFileSync(join(root, page), 'utf8');
  const fenced = text.matchAll(/(?:<!-- given\n([\s\S]*?)-->\n\n)?^```([^\n]*)\n([\s\S]*?)^```$/gm);
  return [...fenced].map(({ index, 1: given = '', 2: tag = '', 3: inner = '' }) => ({
    page,
    line: text.slice(0, text.indexOf('```', index)).split('\n').length,
    tag,
    text: inner,
    given,
  }));
}

export const withTag = (...tags: readonly string[]) => blocks.filter(({ tag }) => tags.includes(tag));
