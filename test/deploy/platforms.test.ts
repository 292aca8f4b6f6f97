/** Compares deploy/fly, deploy/render and deploy/systemd with the settings and the ports of the product. */
import { execFileSync } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse as parseToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { isServiceName, readConfig, type ServiceName, servicesByDefault, warningsOf } from '#app/config.ts';
import { allSettings } from '#app/settings.ts';
import { root } from '../acceptance/running.fixture.ts';
import { expectConsoleUrls, portOf, readEnvironment, readSecrets } from './secrets.fixture.ts';

const read = (path: string) => readFile(join(root, path), 'utf8');
const inProduction = servicesByDefault({ NODE_ENV: 'production' });
/** Services that browsers call (docs/deployment.md#behind-a-proxy). */
const forBrowsers = ['media', 'auth', 'agent', 'memory', 'content', 'edge', 'console'];
const drainS = Number(allSettings.find(({ variable }) => variable === 'AGENT_DRAIN_SECS')?.defaultText);
type Environment = Readonly<Record<string, string>>;

function expectComplete(environment: Environment, services: readonly ServiceName[], foreign: readonly string[] = []) {
  const known: readonly string[] = [...allSettings.map(({ variable }) => variable), ...foreign];
  expect(Object.keys(environment).filter((variable) => !known.includes(variable))).toEqual([]);
  expect(readConfig(environment, services).process.production).toBe(true);
  const warnings = warningsOf(environment, services).filter((line) => !line.startsWith('EMBEDDING_BASE_URL'));
  expect(warnings).toEqual([]);
  const { EDGE_URL = '', COOKIE_DOMAIN = '' } = environment;
  const domain = (host: string) => host.split('.').slice(-2).join('.');
  expect(domain(new URL(EDGE_URL).hostname)).not.toBe(domain(COOKIE_DOMAIN));
}

describe('Fly', async () => {
  interface Service {
    readonly internal_port: number;
    readonly auto_stop_machines: string;
    readonly ports: readonly { readonly port: number; readonly handlers: readonly string[] }[];
    readonly http_checks: readonly { readonly path: string }[];
  }
  const file = parseToml(await read('deploy/fly/fly.toml')) as unknown as {
    readonly env: Environment;
    readonly kill_signal: string;
    readonly kill_timeout: number;
    readonly services: readonly Service[];
    readonly mounts: readonly { readonly destination: string }[];
  };
  const engines = ['DATABASE_URL', 'REDIS_URL', 'S3_ACCESS_KEY_ID', 'S3_SECRET_ACCESS_KEY'];
  const secrets = Object.entries(await readSecrets()).filter(([name]) => !engines.includes(name));

  it('has all settings that production needs, on the embedded engines', () => {
    const environment = { ...Object.fromEntries(secrets), ...file.env };
    expectComplete(environment, inProduction);
    const embedded = [environment.DATABASE_URL, environment.REDIS_URL, environment.S3_ENDPOINT];
    expect(embedded).toEqual(Array(3).fill('embedded'));
  });

  it('publishes the services that browsers call with TLS, at the ports of the URLs', () => {
    const internal = file.services.map(({ internal_port }) => internal_port);
    expect(internal.sort()).toEqual(forBrowsers.filter(isServiceName).map(portOf).sort());
    const publicPorts = new Map(file.services.map((service) => [service.internal_port, service.ports[0]?.port]));
    const { PUBLIC_BASE_URL, EDGE_URL, CONSOLE_URL = '' } = file.env;
    const urlOf = (service: ServiceName) => [service, `${CONSOLE_URL}:${publicPorts.get(portOf(service))}`];
    const urls = Object.fromEntries((['media', 'auth', 'agent', 'memory', 'content'] as const).map(urlOf));
    expectConsoleUrls({ ...Object.fromEntries(secrets), ...file.env }, urls);
    for (const [service, url = ''] of Object.entries({ auth: PUBLIC_BASE_URL, edge: EDGE_URL, console: CONSOLE_URL }))
      expect(Number(new URL(url).port || 443)).toBe(publicPorts.get(portOf(service as ServiceName)));
    for (const { ports, http_checks: checks, auto_stop_machines: stops } of file.services)
      expect([ports[0]?.handlers, checks[0]?.path, stops]).toEqual([['tls', 'http'], '/health', 'off']);
  });

  it('stores the data folder on the volume, and waits for runs', async () => {
    expect(await read('deploy/Dockerfile')).toContain(`ATELIER_DATA_DIR=${file.mounts[0]?.destination}`);
    expect([file.kill_signal, file.kill_timeout > drainS]).toEqual(['SIGTERM', true]);
  });
});

describe('Render', async () => {
  interface Variable {
    readonly key?: string;
    readonly value?: string;
    readonly fromDatabase?: { readonly name: string };
    readonly fromService?: { readonly name: string };
    readonly fromGroup?: string;
  }
  interface Service {
    readonly type: string;
    readonly name: string;
    readonly buildCommand: string;
    readonly startCommand: string;
    readonly healthCheckPath?: string;
    readonly maxShutdownDelaySeconds: number;
    readonly domains?: readonly string[];
    readonly maxmemoryPolicy?: string;
    readonly envVars: readonly Variable[];
  }
  const file: {
    readonly databases: readonly { readonly name: string; readonly postgresMajorVersion: string }[];
    readonly envVarGroups: readonly { readonly name: string; readonly envVars: readonly Variable[] }[];
    readonly services: readonly Service[];
  } = parseYaml(await read('deploy/render/render.yaml'));
  const [group] = file.envVarGroups;
  const settings = Object.fromEntries((group?.envVars ?? []).map(({ key, value }) => [key, String(value)]));
  const ours = file.services.filter(({ type }) => type !== 'keyvalue');
  const serviceOf = ({ startCommand }: Service) => startCommand.split(' ').at(-1) as ServiceName;
  const secrets = await readSecrets();

  it('starts each service once, those for browsers with a public host', () => {
    expect(ours.map(serviceOf).sort()).toEqual([...inProduction].sort());
    const published = ours.filter(({ type }) => type === 'web').map(serviceOf);
    expect(published.sort()).toEqual([...forBrowsers].sort());
  });

  it.each(ours)('$name: has all settings, and the port of its service', (service) => {
    const name = serviceOf(service);
    expect(service.startCommand).toBe(`node launch.mjs start ${name}`);
    const port = service.envVars.find(({ key }) => key === 'PORT')?.value;
    expect(port).toBe(String(portOf(name)));
    expect(service.envVars.flatMap(({ fromGroup }) => fromGroup ?? [])).toEqual([group?.name, 'atelier-secrets']);
    expectComplete({ ...settings, ...secrets, PORT: String(port) }, [name], ['PORT', 'NODE_VERSION']);
    expect(service.maxShutdownDelaySeconds).toBeGreaterThan(drainS);
    if (service.type === 'web') expect(service.healthCheckPath).toBe('/health');
    for (const { fromDatabase, fromService } of service.envVars) {
      if (fromDatabase !== undefined) expect(fromDatabase.name).toBe(file.databases[0]?.name);
      if (fromService !== undefined) expect(file.services.map((other) => other.name)).toContain(fromService.name);
    }
  });

  it('uses the URLs of its hosts and private services', () => {
    const hostOf = new Map(ours.map((service) => [serviceOf(service), service.domains?.[0]]));
    const publicUrls = { PUBLIC_BASE_URL: 'auth', EDGE_URL: 'edge', CONSOLE_URL: 'console' } as const;
    const urls = {
      ...publicUrls,
      MEDIA_URL: 'media',
      AUTH_URL: 'auth',
      AGENT_URL: 'agent',
      MEMORY_URL: 'memory',
    } as const;
    for (const [variable, service] of Object.entries({ ...urls, CONTENT_URL: 'content' } as const))
      expect(settings[variable]).toBe(`https://${hostOf.get(service)}`);
    for (const service of ['image', 'notify'] as const)
      expect(settings[`${service.toUpperCase()}_URL`]).toBe(`http://atelier-${service}:${portOf(service)}`);
  });

  it('runs the versions that the product needs', async () => {
    expect(settings.NODE_VERSION).toBe((await read('.nvmrc')).trim());
    expect(Number(file.databases[0]?.postgresMajorVersion)).toBeGreaterThanOrEqual(15);
    expect(file.services[0]?.maxmemoryPolicy).toBe('noeviction');
  });
});

describe('systemd', async () => {
  const example = await readEnvironment('deploy/systemd/atelier.env.example');
  const environment = Object.fromEntries(
    Object.entries(example).map(([name, value]) => [
      name,
      value.replaceAll('files-example.invalid', 'example.net').replaceAll('.invalid', '.com'),
    ]),
  );
  const app = await read('deploy/systemd/atelier.service');
  const caddy = await read('deploy/systemd/Caddyfile');

  it('starts every service with all settings that production needs', () => {
    expect(app).toMatch(/launch\.mjs start$/m);
    expectComplete(environment, inProduction);
    expect(() => readConfig(example, inProduction)).toThrow(/replace the example values of .*IDP_URL.*CMS_URL/);
  });

  it('can be read by a shell, for commands that are run by hand', () => {
    const file = join(root, 'deploy/systemd/atelier.env.example');
    const script = 'set -ae; . "$0"; printf %s "$NOTIFY_FROM"';
    expect(execFileSync('sh', ['-c', script, file], { encoding: 'utf8' })).toMatch(/^Example <\S+>$/);
  });

  it('stores the data folder where the unit may write, and waits for runs', () => {
    expect(environment.ATELIER_DATA_DIR).toBe(`/var/lib/${/^StateDirectory=(.*)$/m.exec(app)?.[1]}`);
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(app)?.[1])).toBeGreaterThan(drainS);
  });

  it('publishes the services that browsers call, at the hosts of the URLs', () => {
    const sites = [...caddy.matchAll(/^(\S+) \{\n\timport service (\d+)\n\}$/gm)];
    const hostOf = new Map(sites.map(([, host, port]) => [Number(port), host]));
    expect([...hostOf.keys()].sort()).toEqual(forBrowsers.filter(isServiceName).map(portOf).sort());
    const urlOf = (service: ServiceName) => `https://${hostOf.get(portOf(service))}`;
    expect([environment.EDGE_URL, environment.CONSOLE_URL]).toEqual([urlOf('edge'), urlOf('console')]);
    const names = ['media', 'auth', 'agent', 'memory', 'content'] as const;
    expectConsoleUrls(environment, Object.fromEntries(names.map((service) => [service, urlOf(service)])));
  });
});

describe('one host', async () => {
  const file = 'deploy/host/atelier.env.example';
  const example = await readEnvironment(file);
  const edited = Object.fromEntries(
    Object.entries(example).map(([name, value]) => [name, value.replaceAll('.invalid', '.example')]),
  );
  const unit = await read('deploy/host/atelier@.service');

  it('has all settings that production needs, and does not start before they are edited', () => {
    expectComplete(edited, inProduction);
    expect(() => readConfig(example, inProduction)).toThrow(/replace the example values of .*IDP_URL.*CMS_URL/);
  });

  it('can be read by a shell', () => {
    const script = 'set -ae; . "$0"; printf %s "$NOTIFY_FROM"';
    expect(execFileSync('sh', ['-c', script, join(root, file)], { encoding: 'utf8' })).toMatch(/^Example <\S+>$/);
  });

  it('has a unit for several processes, and the URLs of services that one lacks', async () => {
    expect(unit).toContain('ATELIER_PORT_BASE=%i');
    expect(Number(/^TimeoutStopSec=(\d+)$/m.exec(unit)?.[1])).toBeGreaterThan(drainS);
    const { ATELIER_SERVICES: own = '', ...urls } = await readEnvironment('deploy/host/split.env.example');
    const { addresses } = readConfig({ ...edited, ...urls }, ['media', 'agent']);
    expect(own).toBe('"media agent"');
    for (const service of ['image', 'auth', 'memory', 'content', 'notify'] as const)
      expect(addresses[service]).toBe(`http://127.0.0.1:${portOf(service)}`);
  });
});
