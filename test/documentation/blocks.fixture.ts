/**
 * The fenced blocks of README and docs/. Their tag says what becomes of them: `sh` is run against a running suite, `ts` is
 * type-checked, `diff` is applied, `json`, `yaml`, `env` and `ini` are read; `text` alone is for readers only. What a block of
 * `ts` takes for granted stands in a comment before it: `<!-- given … -->`.
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

/** Its blocks are one program, tried with the installed package by the tests of the client. */
const ofTheClient = 'docs/client.md';

const pages = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ...globSync('docs/*.md', { cwd: root })].sort();

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
