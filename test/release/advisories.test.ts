/** `.ci/advisories.mjs`: known vulnerabilities of the packages of the product (docs/releasing.md#advisories). */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';
import { root } from '../acceptance/running.fixture.ts';

const folder = mkdtempSync(join(tmpdir(), 'atelier-advisories-'));
afterAll(() => rmSync(folder, { recursive: true }));
const lockfile = join(folder, 'package-lock.json');
const packages = {
  '': { name: 'product' },
  'node_modules/one': { version: '1.2.3' },
  'node_modules/two': { version: '2.0.0-beta.2' },
  'node_modules/two/node_modules/one': { version: '2.1.0' },
  'node_modules/tool': { version: '1.0.0', dev: true },
};
writeFileSync(lockfile, JSON.stringify({ lockfileVersion: 3, packages }));
writeFileSync(join(folder, 'package.json'), '{"name":"product"}');

async function check(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, [join(root, '.ci/advisories.mjs'), ...args, lockfile], {
    env: { PATH: process.env.PATH, HOME: folder, ...env },
  });
  const ended = new Promise<number | null>((resolve) => child.on('exit', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { code: await ended, output: stdout + stderr };
}

let records = 0;
async function checkRecord(name: string, affected: object, more: object = {}) {
  records += 1;
  const place = join(folder, `osv-${records}`);
  mkdirSync(place);
  const record = { id: 'GHSA-1', summary: 'Bad.', modified: '2026-11-01T00:00:00Z', ...more };
  const ofNpm = { package: { ecosystem: 'npm', name }, ...affected };
  writeFileSync(join(place, 'GHSA-1.json'), JSON.stringify({ ...record, affected: [ofNpm] }));
  return check(['--osv', place]);
}
const range = (...events: object[]) => ({ ranges: [{ type: 'SEMVER', events }] });

describe('records of osv.dev', () => {
  it.each([
    ['one', range({ introduced: '0' }), ['1.2.3', '2.1.0']],
    ['one', range({ introduced: '0' }, { fixed: '1.2.3' }), []],
    ['one', range({ introduced: '1.2.0' }, { fixed: '1.10.0' }), ['1.2.3']],
    ['one', range({ introduced: '0' }, { last_affected: '1.2.3' }), ['1.2.3']],
    ['one', range({ introduced: '0' }, { fixed: '1.0.0' }, { introduced: '2.0.0' }, { fixed: '2.1.1' }), ['2.1.0']],
    ['one', { versions: ['2.1.0'] }, ['2.1.0']],
    ['two', range({ introduced: '2.0.0-alpha' }, { fixed: '2.0.0' }), ['2.0.0-beta.2']],
    ['two', range({ introduced: '0' }, { fixed: '2.0.0-beta.2' }), []],
    ['two', range({ introduced: '2.0.0-beta.10' }), []],
    ['tool', range({ introduced: '0' }), []],
    ['three', range({ introduced: '0' }), []],
  ])('%s %j affects %j', async (name, affected, versions) => {
    const { code, output } = await checkRecord(name, affected);
    expect(output).toContain('1 records, the newest of 2026-11-01T00:00:00Z.');
    for (const version of versions) expect(output).toContain(`GHSA-1  ${name} ${version}  Bad.`);
    expect(output).toContain(versions.length === 0 ? 'No known' : `${versions.length} known vulnerabilities.`);
    expect(code).toBe(versions.length === 0 ? 0 : 1);
  });

  it('are ignored if they are withdrawn; without any other, nothing was checked', async () => {
    const { code, output } = await checkRecord('one', range({ introduced: '0' }), {
      withdrawn: '2026-11-02T00:00:00Z',
    });
    expect([code, output]).toEqual([2, expect.stringContaining('Could not check for advisories')]);
  });

  it.each(['none', 'broken.json'])('that cannot be read are not “none known”: %s', async (name) => {
    writeFileSync(join(folder, 'broken.json'), '{');
    const { code, output } = await check(['--osv', join(folder, name)]);
    expect([code, output]).toEqual([2, expect.stringContaining('Could not check for advisories')]);
  });
});

it('reports that the registry could not be asked', async () => {
  const registry = createServer((_request, response) => response.writeHead(405).end('{}')).listen(0, '127.0.0.1');
  await new Promise((resolve) => registry.once('listening', resolve));
  const url = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
  const { code, output } = await check([], { npm_config_registry: url, npm_config_fetch_retries: '0' });
  registry.close();
  expect([code, output]).toEqual([2, expect.stringContaining('the registry did not answer')]);
});
