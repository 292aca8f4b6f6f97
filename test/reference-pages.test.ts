/**
 * docs/config.md and docs/problems.md are written from the declarations in the code. `npm test -- -u` writes them anew;
 * without it a difference is a failure.
 */
import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { settingGroups } from '#app/settings.ts';
import type { SettingGroup } from '#platform/config.ts';
import type { ProblemDefinition } from '#platform/problem.ts';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

describe('reference pages', () => {
  it('docs/config.md names every setting', async () => {
    await expect(renderSettings(settingGroups)).toMatchFileSnapshot(join(root, 'docs/config.md'));
  });

  it('docs/problems.md names every problem', async () => {
    await expect(await renderProblems()).toMatchFileSnapshot(join(root, 'docs/problems.md'));
  });
});

const titles: Readonly<Record<string, string>> = {
  platform: 'Every service',
  'image/engine': 'Pictures (image, edge)',
};

type Declared = { readonly table: Readonly<Record<string, ProblemDefinition>> };

function renderSettings(groups: Readonly<Record<string, SettingGroup>>): string {
  const sections = Object.entries(groups).map(([name, group]) => {
    const rows = Object.values(group).map(
      ({ variable, defaultText, requiredInProduction, meaning }) =>
        `| \`${variable}\` | ${defaultText} | ${requiredInProduction ? 'yes' : ''} | ${meaning} |`,
    );
    return [
      `## ${name}`,
      '',
      '| variable | default | required in production | meaning |',
      '|---|---|---|---|',
      ...rows,
    ].join('\n');
  });
  return [
    '# Settings',
    '',
    'Read from the environment once, at the start; all faults are told together, by name. An empty value counts as not set.',
    'Secrets that are not set are made at the first start outside production and kept in `secrets.json` of the data folder.',
    '',
    sections.join('\n\n'),
    '',
  ].join('\n');
}

async function renderProblems(): Promise<string> {
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
    'where the request is not valid. The codes are stable; the sentences may become more precise.',
    '',
    sections.join('\n\n'),
    '',
  ].join('\n');
}
