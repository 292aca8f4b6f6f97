/** The files whose texts are checked, and what is wrong with them. */
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { lintCode } from './code.ts';
import { type Found, lintMarkdown } from './markdown.ts';

const root = join(import.meta.dirname, '../..');

const pages = ['*.md', '{docs,examples,packages,tools}/**/*.md'];
/** Code whose literals are read outside of it: messages, descriptions, log lines, the console's pages. */
const code = ['src/**/*.ts', 'src/console/web/**/*.tsx'];
/** Tests and generated files, texts for models and from models, and words in other languages. */
const exempt = [
  '**/*.test.ts',
  'src/client/**',
  'src/agent/turn/turn.ts',
  'src/local/model/**',
  'src/memory/{embedding,text,merging/languages}/**',
  'src/memory/search/searching.ts',
  'src/console/web/**/facts.ts',
];

export interface LintedFile {
  readonly path: string;
  readonly faults: readonly Found[];
}

export function lintFiles(): readonly LintedFile[] {
  const exclude = ['**/node_modules/**', 'src/console/dist/**', ...exempt];
  const paths = globSync([...pages, ...code], { cwd: root, exclude }).map((path) => path.replaceAll('\\', posix.sep));
  return paths.sort().map(lintFile);
}

function lintFile(path: string): LintedFile {
  const text = readFileSync(join(root, path), 'utf8');
  const faults = path.endsWith('.md') ? lintMarkdown(text) : lintCode(path, text);
  return { path, faults };
}
