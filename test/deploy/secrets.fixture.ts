/** What the files of all platforms share: the secrets that operators fill in, and the ports and URLs of the services. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { addressesOf, bindingOf, browserUrlsOf, readConfig, type ServiceName } from '#app/config.ts';
import { root } from '../acceptance/running.fixture.ts';

/** Reads an example of an environment file. Values that are empty there are filled in. */
export async function readEnvironment(path: string): Promise<Readonly<Record<string, string>>> {
  const lines = (await readFile(join(root, path), 'utf8')).matchAll(/^([A-Z][A-Z0-9_]+)=(.*)$/gm);
  return Object.fromEntries([...lines].map(([, name, value]) => [name, value || 'ab'.repeat(32)]));
}

export const readSecrets = () => readEnvironment('deploy/secrets.env.example');

const defaults = readConfig({}, [], { keepSecrets: false });

/** The port on which a service listens by default. */
export const portOf = (service: ServiceName): number => bindingOf(defaults, service).port;

/** The pages of the console call these services. `hosts`: their public URLs. */
export function expectConsoleUrls(environment: NodeJS.ProcessEnv, hosts: Readonly<Record<string, string>>): void {
  const config = readConfig(environment, ['console']);
  expect(browserUrlsOf(config)).toMatchObject(hosts);
  // The proxies remove the internal key and hide /ready and /metrics.
  const { media, auth, agent, memory, content, notify } = addressesOf(config);
  for (const url of [media, auth, agent, memory, content, notify])
    expect(url).toMatch(/^http:\/\/(localhost|atelier|app-1):/);
}
