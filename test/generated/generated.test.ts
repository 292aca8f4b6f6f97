/** Generated files are compared, never written: `npm run generate` writes them. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readApiDocuments } from '../../tools/generate/clientfiles.ts';
import { renderGeneratedFiles } from '../../tools/generate/files.ts';
import { root } from '../acceptance/running.fixture.ts';

it('every generated file is as `npm run generate` writes it', async () => {
  const files = await renderGeneratedFiles(await readApiDocuments());
  expect(files.length).toBeGreaterThan(10);
  for (const { path, text } of files)
    expect(await readFile(join(root, path), 'utf8'), `${path}: run \`npm run generate\``).toBe(text);
});
