/** docs/problems.md, from the services' tables of problems. */
import { globSync } from 'node:fs';
import { join } from 'node:path';
import type { ProblemDefinition } from '#platform/problem.ts';
import { root } from '../../test/acceptance/running.fixture.ts';

const titles: Readonly<Record<string, string>> = {
  platform: 'Every service',
  'image/engine': 'Images (image, edge)',
};

type Declared = { readonly table: Readonly<Record<string, ProblemDefinition>> };

export async function renderProblemsPage(): Promise<string> {
  const tables = globSync('src/**/{problem,problems}.ts', { cwd: root }).sort();
  const sections = await Promise.all(
    tables.map(async (path) => {
      const exported = Object.values(await import(join(root, path)));
      const problems = exported.find(
        (value): value is Declared => typeof value === 'object' && value !== null && 'table' in value,
      );
      if (problems === undefined) throw new Error(`${path} declares no problems`);
      const rows = Object.entries(problems.table).map(
        ([code, { status, message }]) => `| ${status} | \`${code}\` | ${message} |`,
      );
      const place = path.split('/').slice(1, -1).join('/');
      const title = titles[place] ?? place;
      return [`## ${title}`, '', '| status | `error` | message |', '|---|---|---|', ...rows].join('\n');
    }),
  );
  return [
    '# Problems',
    '',
    'Errors are JSON: `{ "error": "<code>", "message": "<one sentence>", "requestId": "…" }`, and `issues: [{ path, message }]`',
    'if the request is not valid. The codes are stable; the sentences may become more precise.',
    '',
    sections.join('\n\n'),
    '',
  ].join('\n');
}
