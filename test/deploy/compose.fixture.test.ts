/** Compares deploy/compose.yml with the settings of the product and with the files beside it. */
import { execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isServiceName, readConfig, servicesByDefault, warningsOf } from '#app/config.ts';
import { allSettings } from '#app/settings.ts';
import { freePortBase, root } from '../acceptance/running.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import { environmentOf, readCompose, readExample } from './compose.fixture.ts';

const { services, networks, volumes, configs } = await readCompose();
const entries = Object.entries(services);
const ours = entries.filter(([, { build }]) => build !== undefined);
const namesOf = (some: readonly string[] | Readonly<Record<string, unknown>> = []) =>
  Array.isArray(some) ? (some as readonly string[]) : Object.keys(some);
const settings = allSettings.map(({ variable }) => variable);
const nginxConf = await readFile(join(root, 'deploy/nginx/atelier.conf.template'), 'utf8');

describe('the Atelier services', () => {
  it('are all that production needs, without stand-ins', () => {
    const started = new Set(ours.flatMap(([, { command }]) => command ?? []));
    expect([...started].sort()).toEqual([...servicesByDefault({ NODE_ENV: 'production' })].sort());
  });

  it.each(ours)('%s: its settings are known, and complete for production', async (name, { environment, command }) => {
    expect(Object.keys(environment ?? {}).filter((variable) => ![...settings, 'TMPDIR'].includes(variable))).toEqual(
      [],
    );
    const started = (command ?? []).filter(isServiceName);
    const complete = await environmentOf(name);
    const config = readConfig(complete, started);
    expect(config.process.production).toBe(true);
    expect(config.objects.endpoint).toMatch(/^https:/);
    // No variable of the file looks like a misspelled setting.
    const warnings = warningsOf(complete, started).filter((warning) => !warning.startsWith('EMBEDDING_BASE_URL'));
    expect(warnings).toEqual([]);
  });

  /** These follow from the compose file. */
  const decided = [
    ...['NODE_ENV', 'DATABASE_URL', 'REDIS_URL', 'S3_ENDPOINT', 'S3_BUCKET', 'S3_PUBLIC_BUCKET', 'S3_ACCESS_KEY_ID'],
    ...['EDGE_URL', 'PUBLIC_BASE_URL', 'CONSOLE_URL', 'CONTENT_PUBLIC_URL', 'NOTIFY_UNSUBSCRIBE_URL', 'COOKIE_DOMAIN'],
  ];
  it.each(['app-1', 'app-2'])('%s: receives every setting of deploy/.env', async (name) => {
    const operators = Object.fromEntries(settings.map((variable) => [variable, `the operator's ${variable}`]));
    const received = await environmentOf(name, operators);
    expect(settings.filter((variable) => received[variable] !== operators[variable]).sort()).toEqual(decided.sort());
  });

  it.each(ours)('%s: is built from this folder, and writes only to its volumes and /tmp', (_name, service) => {
    expect(existsSync(join(root, 'deploy', service.build?.context ?? '', service.build?.dockerfile ?? ''))).toBe(true);
    const { TMPDIR = '' } = service.environment ?? {};
    const written = ['/tmp', ...(service.volumes ?? []).map((mount) => mount.split(':')[1])];
    expect(written).toContain(TMPDIR);
  });

  it('do not share the folder of their unfinished videos', () => {
    const scratch = ours.flatMap(([, { volumes: mounts = [] }]) =>
      mounts.filter((mount) => mount.includes('/scratch')),
    );
    expect(scratch).toHaveLength(2);
    expect(new Set(scratch).size).toBe(2);
  });
});

describe('all services', () => {
  it.each(entries)('%s: the files it names exist, and its image has a version', (_name, service) => {
    for (const name of namesOf(service.depends_on)) expect(services).toHaveProperty(name);
    for (const name of namesOf(service.networks)) expect(networks).toHaveProperty(name);
    for (const { source } of service.configs ?? []) expect(configs).toHaveProperty(source);
    for (const mount of service.volumes ?? []) {
      const [source = ''] = mount.split(':');
      if (!source.startsWith('.')) expect(volumes).toHaveProperty(source);
      // The operator provides these files.
      else if (!['./certificates', './config'].includes(source))
        expect(existsSync(join(root, 'deploy', source)), source).toBe(true);
    }
    if (service.build === undefined) expect(service.image).toMatch(/:\d+\.\d+/);
  });

  it.each(entries)('%s: has no more rights and resources than it needs', (name, service) => {
    expect(service).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      security_opt: ['no-new-privileges:true'],
      mem_limit: expect.stringMatching(/^\d+[mg]$/),
      pids_limit: expect.any(Number),
      logging: { options: { 'max-size': expect.any(String) } },
    });
    expect(service.cap_add ?? []).toEqual(name === 'nginx' ? ['NET_BIND_SERVICE', 'CHOWN', 'SETUID', 'SETGID'] : []);
    // Atelier's image sets a user. nginx starts as root to open its ports.
    if (service.build === undefined && name !== 'nginx') expect(service.user).toMatch(/^(?!root|0)/);
    for (const mount of service.tmpfs ?? []) expect(mount).toMatch(/:size=\d+m/);
  });

  it('are reachable only where needed', () => {
    const members = Object.fromEntries(
      Object.keys(networks).map((network) => [
        network,
        entries.filter(([, service]) => namesOf(service.networks).includes(network)).map(([name]) => name),
      ]),
    );
    expect(members).toEqual({
      public: ['nginx'],
      services: ['app-1', 'app-2', 'console', 'nginx'],
      engines: ['app-1', 'app-2', 'console', 'postgres', 'redis'],
      storage: ['nginx', 's3'],
      outgoing: ['app-1', 'app-2'],
    });
    expect(Object.keys(networks).filter((name) => !networks[name]?.internal)).toEqual(['public', 'outgoing']);
    expect(entries.filter(([, { ports }]) => ports !== undefined).map(([name]) => name)).toEqual(['nginx']);
  });

  it('uses every variable of env.example', async () => {
    const text = await readFile(join(root, 'deploy/compose.yml'), 'utf8');
    const isTaken = (name: string) => text.includes(`\${${name}:`) || (settings as readonly string[]).includes(name);
    expect(Object.keys(await readExample()).filter((name) => !isTaken(name))).toEqual([]);
  });
});

describe('nginx', () => {
  it('finds each process by name', () => {
    const named = new Set([...nginxConf.matchAll(/server ([\w-]+):\d+/g)].map((match) => String(match[1])));
    expect([...named].filter((name) => services[name] === undefined)).toEqual([]);
  });

  it('trusts the subnet of the services, and not its gateway', () => {
    const [{ subnet, gateway } = { subnet: '', gateway: '' }] = networks.services?.ipam?.config ?? [];
    expect(nginxConf).toMatch(new RegExp(`^ +${subnet.replaceAll('.', '\\.')} +1;$`, 'm'));
    expect(nginxConf).toMatch(new RegExp(`^ +${gateway.replaceAll('.', '\\.')} +0;$`, 'm'));
  });
});

describe('the object store', () => {
  it('is on a domain that shares no cookie', async () => {
    const { COOKIE_DOMAIN = '', S3_ENDPOINT = '', EDGE_URL = '' } = await environmentOf('app-1');
    const registered = (host: string) => host.split('.').slice(-2).join('.');
    for (const url of [S3_ENDPOINT, EDGE_URL])
      expect(registered(new URL(url).hostname)).not.toBe(registered(COOKIE_DOMAIN));
  });

  it('has one account, for its two buckets, without the right to manage them', async () => {
    const { S3_BUCKET, S3_PUBLIC_BUCKET, S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = await environmentOf('app-1');
    const { identities } = JSON.parse(configs.s3?.content ?? '');
    expect(identities).toHaveLength(1);
    const [{ credentials, actions }] = identities;
    expect(credentials).toEqual([{ accessKey: S3_ACCESS_KEY_ID, secretKey: S3_SECRET_ACCESS_KEY }]);
    const buckets = [S3_BUCKET, S3_PUBLIC_BUCKET];
    expect(actions).toEqual(
      buckets.flatMap((bucket) => ['Read', 'Write', 'List'].map((action) => `${action}:${bucket}`)),
    );
    expect(nginxConf).toContain(`location ~ ^/(${buckets.join('|')})/.`);
    expect(services.buckets?.command?.join()).toContain(`for bucket in ${buckets.join(' ')};`);
  });

  it('exposes only its S3 port to other containers', () => {
    expect(services.s3?.command).toEqual(
      expect.arrayContaining(['-ip.bind=127.0.0.1', '-s3.ip.bind=0.0.0.0', '-s3.iam=false']),
    );
    expect(services.buckets?.network_mode).toBe('service:s3');
  });
});

describe('Redis', () => {
  it('is used with its password', async () => {
    const { REDIS_URL = '', REDIS_PASSWORD } = await environmentOf('app-1');
    expect(new URL(REDIS_URL).password).toBe(REDIS_PASSWORD);
    expect(services.redis?.environment?.REDISCLI_AUTH).toBe(REDIS_PASSWORD);
  });

  it.skipIf(skipWithout('redis-server'))(
    'rejects commands without it, and does not show it in its command line',
    async () => {
      const folder = await mkdtemp(join(tmpdir(), 'atelier-redis-'));
      const port = await freePortBase();
      const [shell = '', flag = '', script = ''] = services.redis?.command ?? [];
      const here = script
        .replaceAll('$$', '$')
        .replace('redis-server ', `redis-server --port ${port} --dir ${folder} `);
      const env = { PATH: process.env.PATH, ...services.redis?.environment };
      const server = spawn(shell, [flag, here], { env, stdio: 'ignore', detached: true });
      const ask = async (environment: object) =>
        (await promisify(execFile)('redis-cli', ['-p', String(port), 'ping'], { env: { ...env, ...environment } }))
          .stdout;
      try {
        await expect.poll(() => ask({}).catch(String), { timeout: 20_000 }).toBe('PONG\n');
        expect(await ask({ REDISCLI_AUTH: undefined })).toContain('NOAUTH');
        const { stdout } = await promisify(execFile)('ps', ['-o', 'args', '-C', 'redis-server']);
        expect(stdout).toContain(String(port));
        expect(stdout).not.toContain(services.redis?.environment?.REDISCLI_AUTH);
      } finally {
        // Without a pid it never started, and a kill of process group 0 would end the test run.
        if (server.pid !== undefined) process.kill(-server.pid, 'SIGKILL');
        await rm(folder, { recursive: true });
      }
    },
  );
});
