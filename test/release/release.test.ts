/** The parts of a release agree: versions, changelog, upgrade notes, licenses and the bill of materials (docs/releasing.md). */
import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { isAllowed, licensedPackages } from '../../tools/licenses/licenses.ts';
import { root } from '../acceptance/running.fixture.ts';

const read = (path: string) => readFileSync(join(root, path), 'utf8');
const { version }: { readonly version: string } = JSON.parse(read('package.json'));
const { packages } = JSON.parse(read('package-lock.json'));

interface Component {
  readonly purl: string;
}

it('has one version in all manifests and file names', () => {
  const { version: ofClient } = JSON.parse(read('packages/client/package.json'));
  expect([ofClient, packages[''].version]).toEqual([version, version]);
  const pages = globSync('{*.md,docs/{,guides/}*.md,deploy/kubernetes/*.yaml}', { cwd: root });
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/(?:atelier-client-|checkout v|atelier:|newTag: |atelier-)(\d+\.\d+\.\d+)/g)].map(
      (match) => `${page}: ${match[1]}`,
    ),
  );
  expect(named.length).toBeGreaterThan(4);
  expect(named.filter((line) => !line.endsWith(`: ${version}`))).toEqual([]);
});

it('has a changelog entry with a date, and upgrade notes, for this version', () => {
  const [newest] = read('CHANGELOG.md').matchAll(/^## \[(\d+\.\d+\.\d+)\] - (\d{4}-\d{2}-\d{2})$/gm);
  expect(newest?.[1]).toBe(version);
  expect(Number.isNaN(Date.parse(newest?.[2] ?? ''))).toBe(false);
  expect(read('docs/upgrading.md')).toContain(`### ${version}\n`);
  expect(read('SECURITY.md')).toContain(`| ${version.split('.')[0]}.x, the newest minor version | yes |`);
});

it('has packages with allowed licenses only', () => {
  const licensed = licensedPackages(packages);
  expect(licensed.length).toBeGreaterThan(300);
  expect(licensed.filter((each) => !isAllowed(each))).toEqual([]);
});

it('can list every package of the product in a bill of materials', { timeout: 60_000 }, async () => {
  const command = /^npm (sbom .*) > /m.exec(read('docs/releasing.md'))?.[1] ?? '';
  const { stdout } = await promisify(execFile)('npm', command.split(' '), { cwd: root, maxBuffer: 64 * 1024 * 1024 });
  const { components }: { readonly components: readonly Component[] } = JSON.parse(stdout);
  const listed = new Set(components.map(({ purl }) => decodeURIComponent(purl)));
  const shipped = licensedPackages(packages).filter(({ isShipped }) => isShipped);
  const missing = shipped.filter(({ name, version: of }) => !listed.has(`pkg:npm/${name}@${of}`));
  expect(missing.map(({ name }) => name)).toEqual([]);
});

it('has the policies that a user looks for', () => {
  for (const page of ['CHANGELOG.md', 'SECURITY.md', 'LICENSE', 'docs/support.md', 'docs/upgrading.md'])
    expect(existsSync(join(root, page)), page).toBe(true);
});

it('has workflows that pin each action by its commit, and run the whole suite each night and for each tag', () => {
  const workflows = globSync('.github/workflows/*.yml', { cwd: root });
  const used = workflows.flatMap((path) => [...read(path).matchAll(/uses: (.+)$/gm)].map(([, action = '']) => action));
  expect(used.length).toBeGreaterThan(3);
  expect(used.filter((action) => !/@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([]);
  for (const [name, trigger] of [
    ['nightly', /^ {2}schedule:\n {4}- cron: /m],
    ['release', /^ {4}tags: /m],
  ] as const) {
    const workflow = read(`.github/workflows/${name}.yml`);
    expect(workflow).toMatch(trigger);
    expect(workflow).toContain('bash .ci/nightly');
  }
});

it('publishes the build, by the steps of docs/releasing.md', () => {
  const steps = /```bash\n(npm run build:client[^`]*)```/.exec(read('docs/releasing.md'))?.[1] ?? '';
  const workflow = read('.github/workflows/release.yml');
  const common = [
    'npm run build && tar --create --gzip --directory dist/ --exclude ./compiled --file ',
    'ATELIER_COMMIT=',
  ];
  for (const words of common) for (const text of [steps, workflow]) expect(text).toContain(words);
});
