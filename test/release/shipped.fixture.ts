/** What the sources load while they run: modules by dynamic imports, and files by their URL. */
import { globSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { root } from '../acceptance/running.fixture.ts';

export interface DynamicImport {
  /** The path in the sources of the module that imports. */
  readonly module: string;
  /** Counted from zero among the dynamic imports of the module. */
  readonly position: number;
  readonly specifier: string;
  /** Exports that the module uses. Empty if it passes on the whole namespace. */
  readonly names: readonly string[];
}

export interface NamedFile {
  readonly module: string;
  /** The path in the build. */
  readonly path: string;
  /** Runs when it is loaded: as a thread, or as a process of its own. */
  readonly isProgram: boolean;
  readonly isWorker: boolean;
}

const builtPath = (source: string) => source.replace(/\.ts$/, '.mjs');

const modules = globSync('**/*.ts', { cwd: join(root, 'src') })
  .filter((path) => !/(\.test|\.d)\.ts$|^console\/web\//.test(path))
  .sort();

const texts = new Map(modules.map((path) => [path, withoutComments(readFileSync(join(root, 'src', path), 'utf8'))]));

/** Types are imported in the same words. */
const dynamicImport = /(?<!typeof |: |<|\| |as )\bimport\(\s*([^)]*?),?\s*\)/g;

export const dynamicImports: readonly DynamicImport[] = [...texts].flatMap(([path, text]) =>
  [...text.matchAll(dynamicImport)].map((match, position) => ({
    module: path,
    position,
    specifier: match[1] ?? '',
    names: namesUsed(text, match.index, match.index + match[0].length),
  })),
);

export const namedFiles: readonly NamedFile[] = [...texts].flatMap(([path, text]) =>
  [...text.matchAll(/(new Worker\(\s*)?new URL\(\s*[`'"]([^`'"]+?)(?:\$\{[^`]*)?[`'"],\s*import\.meta\.url/g)].map(
    ([, worker, file = '']) => ({
      module: path,
      path: builtPath(posix.join(posix.dirname(path), file)),
      isProgram: file.endsWith('.ts'),
      isWorker: worker !== undefined,
    }),
  ),
);

/** How many times the sources start a thread, to compare with the files found for them. */
export const workerCount = [...texts.values()].join('\n').match(/\bnew Worker\(/g)?.length ?? 0;

function namesUsed(text: string, start: number, end: number): readonly string[] {
  const [before, after] = [text.slice(0, start), text.slice(end)];
  const destructured = /(?:const|let) \{([^{}]*)\} = await $/.exec(before)?.[1];
  if (destructured !== undefined) return destructured.split(',').flatMap((each) => /\w+/.exec(each)?.[0] ?? []);
  const member = /^\)\.(\w+)/.exec(after)?.[1] ?? /^\.then\(\(?(\w+)\)? => \1\.(\w+)/.exec(after)?.[2];
  if (member !== undefined && (before.endsWith('(await ') || after.startsWith('.then'))) return [member];
  const variable = /(?:const|let) (\w+)(?:: [^=;]*)? = await $/.exec(before)?.[1];
  if (variable === undefined) return [];
  return [...new Set([...text.matchAll(new RegExp(`\\b${variable}\\.(\\w+)`, 'g'))].flatMap(([, name]) => name ?? []))];
}

function withoutComments(text: string): string {
  return text.replaceAll(/^\s*(?:\/\*\*?[\s\S]*?\*\/|\/\/.*)$/gm, '');
}
