/** What the files of all platforms share: the secrets that operators fill in, and the ports of the services. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { bindingOf, readConfig, type ServiceName } from '#app/config.ts';
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
