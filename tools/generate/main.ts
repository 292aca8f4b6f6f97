/** `npm run generate`: writes every generated file, and prints the paths of those that changed. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../../test/acceptance/running.fixture.ts';
import { readApiDocuments } from './clientfiles.ts';
import { renderGeneratedFiles } from './files.ts';

const files = await renderGeneratedFiles(await readApiDocuments());
let changed = 0;
for (const { path, text } of files) {
  const before = await readFile(join(root, path), 'utf8').catch(() => undefined);
  if (before === text) continue;
  changed += 1;
  await writeFile(join(root, path), text);
  console.log(`Wrote ${path}`);
}
console.log(`${files.length} generated files, ${changed} changed.`);
