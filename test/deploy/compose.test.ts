/** deploy/compose.yml: read as YAML, and held against the settings of the product and the files beside it. */
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isServiceName, readConfig, servicesByDefault } from '../../src/config.ts';
import { settingGroups } from '../../src/settings.ts';
import { root } from '../acceptance/running.ts';
import { readCompose, readExample } from './compose.ts';

const { services, networks, volumes } = await readCompose();
const entries = Object.entries(services);
const ours = entries.filter(([, { build }]) => build !== undefined);
const namesOf = (some: readonly string[] | Readonly<Record<string, unknown>> = []) =>
  Array.isArray(some) ? (some as readonly string[]) : Object.keys(some);

describe('the services of ours', () => {
  it('are all that production needs, and none of the stand-ins', () => {
    const started = new Set(ours.flatMap(([, { command }]) => command ?? []));
    expect([...started].sort()).toEqual([...servicesByDefault({ NODE_ENV: 'production' })].sort());
  });

  it.each(ours)(
    '%s: its settings are known, and complete for production',
    (_name, { environment = {}, command = [] }) => {
      const known = Object.values(settingGroups).flatMap((group) =>
        Object.values(group).map(({ variable }) => variable),
      );
      expect(Object.keys(environment).filter((name) => !known.includes(name as never))).toEqual([]);
      const config = readConfig(environment, command.filter(isServiceName));
      expect(config.process.production).toBe(true);
      expect(config.objects.endpoint).toMatch(/^https:/);
    },
  );

  it.each(ours)('%s: may write its volume and /tmp alone', (_name, service) => {
    expect(service).toMatchObject({ read_only: true, tmpfs: ['/tmp'], cap_drop: ['ALL'], init: true });
    expect(existsSync(join(root, 'deploy', service.build?.context ?? '', service.build?.dockerfile ?? ''))).toBe(true);
  });
});

describe('all services', () => {
  it.each(entries)('%s: what it names is there, and its image is pinned', (_name, service) => {
    for (const name of namesOf(service.depends_on)) expect(services).toHaveProperty(name);
    for (const name of namesOf(service.networks)) expect(networks).toHaveProperty(name);
    for (const mount of service.volumes ?? []) {
      const [source = ''] = mount.split(':');
      if (!source.startsWith('.')) expect(volumes).toHaveProperty(source);
      // The operator's own.
      else if (source !== './certificates') expect(existsSync(join(root, 'deploy', source)), source).toBe(true);
    }
    if (service.build === undefined) expect(service.image).toMatch(/:[\w.-]*\d/);
  });

  it('only nginx can be reached from outside, and knows each process by name', async () => {
    expect(entries.filter(([, { ports }]) => ports !== undefined).map(([name]) => name)).toEqual(['nginx']);
    const conf = await readFile(join(root, 'deploy/nginx/atelier.conf.template'), 'utf8');
    const named = new Set([...conf.matchAll(/server ([\w-]+):\d+;/g)].map((match) => String(match[1])));
    expect([...named].filter((name) => services[name] === undefined)).toEqual([]);
  });

  it('takes every variable of env.example', async () => {
    const text = await readFile(join(root, 'deploy/compose.yml'), 'utf8');
    expect(Object.keys(await readExample()).filter((name) => !text.includes(`\${${name}:`))).toEqual([]);
  });
});
