/** `npm run licenses`: lists the licenses of all packages of the lockfile, and fails if one is not allowed (docs/releasing.md#licenses). */
import { readFile } from 'node:fs/promises';
import { isAllowed, licensedPackages } from './licenses.ts';

const lockfile = await readFile(new URL('../../package-lock.json', import.meta.url), 'utf8');
const packages = licensedPackages(JSON.parse(lockfile).packages);
const groups = Map.groupBy(packages, ({ license, isShipped }) => `${license}${isShipped ? '' : ' (development)'}`);
for (const [license, members] of [...groups].sort(([a], [b]) => a.localeCompare(b)))
  console.log(`${license}: ${members.map(({ name, version }) => `${name}@${version}`).join(', ')}`);
const faults = packages.filter((each) => !isAllowed(each));
for (const { name, version, license } of faults)
  console.error(`${name}@${version} has the license ${license}, which is not allowed. Remove the package.`);
process.exitCode = faults.length === 0 ? 0 : 1;
