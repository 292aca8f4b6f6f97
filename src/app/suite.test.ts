import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createLog } from '#platform/log.ts';
import { freePortBase } from '../../test/ports.fixture.ts';
import { readConfig, type ServiceName } from './config.ts';
import { startSuite } from './suite.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'atelier-suite-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

async function start(service: ServiceName, settings: Readonly<Record<string, string>> = {}) {
  const environment = { ATELIER_DATA_DIR: dataDir, ATELIER_PORT_BASE: String(await freePortBase()), ...settings };
  const suite = await startSuite(readConfig(environment, [service]), [service], createLog({ level: 'silent' }));
  await suite.close();
}

it.each(['192.0.2.1', 'nowhere.invalid'])('names HOST if a service cannot listen on %s', async (HOST) => {
  await expect(start('edge', { HOST })).rejects.toThrow(/^HOST: cannot listen on /);
});

it('does not name HOST if a service cannot create its folder', async () => {
  await writeFile(join(dataDir, 'objects'), 'a file');
  await expect(start('media')).rejects.toThrow(/^EEXIST/);
});
