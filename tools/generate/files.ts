/** Every file of the repository that is generated from the code (the console's pages apart: `npm run build:console`). */
import { openApiPath, renderSurface, surfacePath } from './apisurface.ts';
import { type ApiDocuments, renderClient } from './clientfiles.ts';
import { combineDocuments } from './combined.ts';
import { renderProblemsPage } from './problemspage.ts';
import { renderSettingsPage } from './settingspage.ts';

export interface GeneratedFile {
  /** From the repository's root. */
  readonly path: string;
  readonly text: string;
}

export async function renderGeneratedFiles(documents: ApiDocuments): Promise<readonly GeneratedFile[]> {
  return [
    { path: 'docs/config.md', text: renderSettingsPage() },
    { path: 'docs/problems.md', text: await renderProblemsPage() },
    ...(await renderClient(documents)),
    { path: openApiPath, text: `${JSON.stringify(combineDocuments(documents), null, 1)}\n` },
    { path: surfacePath, text: renderSurface(documents) },
  ];
}
