/** The files whose texts are checked, and what is wrong with them. */
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { lintCode } from './code.ts';
import { type Found, lintMarkdown } from './markdown.ts';

const root = join(import.meta.dirname, '../..');

const pages = ['*.md', 'docs/**/*.md', 'examples/**/*.md'];
/** Code whose literals are read outside of it. The client is generated from the others. */
const code = ['src/**/{problem,problems,api,emailapi,request,routes,*routes,reference}.ts', 'src/console/web/**/*.tsx'];

export interface LintedFile {
  readonly path: string;
  readonly faults: readonly Found[];
}

export function lintFiles(): readonly LintedFile[] {
  const exclude = ['**/node_modules/**', 'src/client/**'];
  const paths = globSync([...pages, ...code], { cwd: root, exclude }).map((path) => path.replaceAll('\\', posix.sep));
  return paths.sort().map(lintFile);
}

function lintFile(path: string): LintedFile {
  const text = readFileSync(join(root, path), 'utf8');
  const faults = path.endsWith('.md') ? lintMarkdown(text) : lintCode(path, text);
  return { path, faults };
}
