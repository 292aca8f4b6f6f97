/**
 * `node .ci/advisories.mjs [--osv <file or folder>] [<package-lock.json>]`: lists known vulnerabilities of the packages of the product.
 * By default npm asks its registry. With `--osv` it reads records of https://osv.dev (https://ossf.github.io/osv-schema/) and needs no
 * network. Exits with 0 if none is known, 1 if some are, and 2 if it could not check.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({ options: { osv: { type: 'string' } }, allowPositionals: true });
const lockfile = resolve(positionals[0] ?? fileURLToPath(new URL('../package-lock.json', import.meta.url)));

let found = [];
try {
  found = values.osv === undefined ? askRegistry() : readOsv(values.osv);
} catch (error) {
  console.error(`Could not check for advisories: ${error instanceof Error ? error.message : error}`);
  process.exit(2);
}
for (const line of found) console.log(line);
console.log(found.length === 0 ? 'No known vulnerabilities.' : `${found.length} known vulnerabilities.`);
process.exitCode = found.length === 0 ? 0 : 1;

function askRegistry() {
  const { stdout, error } = spawnSync('npm', ['audit', '--omit=dev', '--json'], {
    cwd: dirname(lockfile),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error) throw error;
  const report = JSON.parse(stdout);
  if (report.auditReportVersion === undefined)
    throw new Error(
      `the registry did not answer (${report.message ?? report.error?.summary ?? 'no reason given'}). Use --osv with records of osv.dev.`,
    );
  return Object.values(report.vulnerabilities).map(
    ({ name, severity, range, via }) =>
      `${severity}  ${name} ${range}  ${via.map((cause) => cause.url ?? cause).join(' ')}`,
  );
}

function readOsv(path) {
  const files = statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true })
        .filter((file) => file.endsWith('.json'))
        .map((file) => join(path, file))
    : [path];
  const records = files.flatMap((file) => JSON.parse(readFileSync(file, 'utf8')));
  const ofNpm = records.filter(({ withdrawn, affected = [] }) => !withdrawn && affected.some(isNpm));
  if (ofNpm.length === 0) throw new Error(`${path} contains no record of a package of npm.`);
  const newest = ofNpm
    .map(({ modified = '' }) => modified)
    .sort()
    .at(-1);
  console.log(`${ofNpm.length} records, the newest of ${newest || 'an unknown date'}.`);
  const installed = new Map();
  for (const each of shipped()) installed.set(each.name, [...(installed.get(each.name) ?? []), each]);
  return ofNpm.flatMap(({ id, summary = '', affected }) =>
    affected
      .filter(isNpm)
      .flatMap((entry) =>
        (installed.get(entry.package.name) ?? [])
          .filter(({ version }) => isAffected(version, entry))
          .map(({ name, version }) => `${id}  ${name} ${version}  ${summary}`.trim()),
      ),
  );
}

function isNpm(affected) {
  return affected.package?.ecosystem === 'npm';
}

function shipped() {
  const { packages } = JSON.parse(readFileSync(lockfile, 'utf8'));
  return Object.entries(packages)
    .filter(([path, { dev, link }]) => path !== '' && !dev && !link)
    .map(([path, { name, version }]) => ({ name: name ?? path.split('node_modules/').at(-1), version }));
}

function isAffected(version, { versions = [], ranges = [] }) {
  return (
    versions.includes(version) || ranges.some(({ type, events }) => type === 'SEMVER' && isInRange(version, events))
  );
}

/** The last event at or below the version decides: https://ossf.github.io/osv-schema/#evaluation. */
function isInRange(version, events) {
  let isIn = false;
  const ordered = events.toSorted((left, right) => compare(boundOf(left), boundOf(right)));
  for (const event of ordered) {
    const order = compare(version, boundOf(event));
    if (event.introduced !== undefined && order >= 0) isIn = true;
    else if (event.fixed !== undefined && order >= 0) isIn = false;
    else if (event.last_affected !== undefined && order > 0) isIn = false;
  }
  return isIn;
}

function boundOf({ introduced, fixed, last_affected: last, limit }) {
  return introduced ?? fixed ?? last ?? limit;
}

/** By https://semver.org/#spec-item-11. `0` is below every version. */
function compare(left, right) {
  const [a, b] = [partsOf(left), partsOf(right)];
  for (const at of [0, 1, 2]) if (a.numbers[at] !== b.numbers[at]) return a.numbers[at] - b.numbers[at];
  if (a.labels.length === 0 || b.labels.length === 0) return b.labels.length - a.labels.length;
  for (const [at, label] of a.labels.entries()) {
    const other = b.labels[at];
    if (other === undefined) return 1;
    if (label === other) continue;
    const [isNumber, isOtherNumber] = [/^\d+$/.test(label), /^\d+$/.test(other)];
    if (isNumber && isOtherNumber) return Number(label) - Number(other);
    if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
    return label < other ? -1 : 1;
  }
  return a.labels.length - b.labels.length;
}

function partsOf(version) {
  const [core = '', ...labels] = version.split('+')[0].split('-');
  const [major = 0, minor = 0, patch = 0] = core.split('.').map(Number);
  const text = labels.join('-');
  // The bound `0` is below the first pre-release.
  return { numbers: [major, minor, patch], labels: text === '' ? (version === '0' ? ['0'] : []) : text.split('.') };
}
