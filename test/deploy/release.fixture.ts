/** Archives of releases with their packages, which deploy/host/upgrade installs. */
import { execFile } from 'node:child_process';
import { cp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { findBuild } from '../../build.mjs';
import { root } from '../acceptance/running.fixture.ts';

const runFile = promisify(execFile);

/** Writes a release of this build that reports another commit. Returns the name of its version. */
export async function writeRelease(path: string, commit: string): Promise<string> {
  const [folder, build] = [`${path}.folder`, findBuild()];
  await cp(build, folder, { recursive: true, filter: (each) => each !== join(build, 'compiled') });
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  await writeFile(join(folder, 'package.json'), JSON.stringify({ ...manifest, commit }));
  // A whole copy of the packages would take most of the time of a test.
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await runFile('tar', ['--create', '--file', path, '--directory', folder, '.']);
  await rm(folder, { recursive: true });
  return `${manifest.version}-${commit}`;
}

/** The environment in which deploy/host/upgrade uses this Node, and folders of the test. */
export const upgradeEnvironment = (place: string, more: Readonly<Record<string, string>> = {}) => ({
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
  HOME: place,
  ATELIER_ROOT: join(place, 'opt'),
  ATELIER_ENV_FILE: join(place, 'atelier.env'),
  ATELIER_ACCOUNT: 'nobody-has-this-name',
  ...more,
});

export const upgradeScript = join(root, 'deploy/host/upgrade');
