/**
 * Measures the size of the product. `node tools/size.ts` prints the numbers, and for each folder of src/ its files and
 * lines. test/house/size.test.ts holds the limits.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const generated = /^src\/client\/(\w+\/(api|calls)|codes)\.ts$/;

export interface Size {
  readonly files: number;
  /** Lines that are not blank. */
  readonly lines: number;
  /** Names of types that select what a function uses: one context for each service replaces them. */
  readonly depsTypes: readonly string[];
  /** Types that list tables of a database. */
  readonly tablesTypes: readonly string[];
}

/** The sources of the product under a folder, without tests and generated files. */
export function measureSize(folder = 'src'): Size {
  const texts = globSync(`${folder}/**/*.{ts,tsx}`, { cwd: root })
    .map((path) => path.split('\\').join('/'))
    .filter((path) => !/\.test\.tsx?$|\/dist\//.test(path) && !generated.test(path))
    .map((path) => readFileSync(join(root, path), 'utf8'));
  const all = texts.join('\n');
  return {
    files: texts.length,
    lines: all.split('\n').filter((line) => line.trim() !== '').length,
    depsTypes: declaredTypes(all, 'Deps'),
    tablesTypes: declaredTypes(all, 'Tables'),
  };
}

function declaredTypes(text: string, ending: string): readonly string[] {
  const declarations = text.matchAll(new RegExp(`^(?:export )?(?:interface|type) (\\w*${ending})\\b`, 'gm'));
  return [...new Set([...declarations].map((match) => match[1] ?? ''))].toSorted();
}

if (import.meta.main) {
  const { files, lines, depsTypes, tablesTypes } = measureSize();
  console.log(`files ${files}, lines ${lines}, *Deps types ${depsTypes.length}, *Tables types ${tablesTypes.length}`);
  for (const folder of globSync('src/*/', { cwd: root }).toSorted()) {
    const part = measureSize(folder);
    console.log(`${folder.padEnd(16)} files ${part.files}, lines ${part.lines}, *Deps types ${part.depsTypes.length}`);
  }
}
