/** Compares deploy/compose.yml with the settings of the product and with the files beside it. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { isServiceName, readConfig, servicesByDefault, warningsOf } from '#app/config.ts';
import { allSettings } from '#app/settings.ts';
import { root } from '../acceptance/running.fixture.ts';
import { freePortBase } from '../ports.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import { environmentOf, readCompose, readExample } from './compose.fixture.ts';
import { expectConsoleUrls } from './secrets.fixture.ts';

const { services, networks, volumes } = await readCompose();
const entries = Object.entries(services);
const ours = entries.filter(([, { image }]) => image === 'atelier');
const namesOf = (some: readonly string[] | Readonly<Record<string, unknown>> = []) =>
  Array.isArray(some) ? (some as readonly string[]) : Object.keys(some);
const settings = allSettings.map(({ variable }) => variable);
const nginxConf = await readFile(join(root, 'deploy/nginx/atelier.conf.template'), 'utf8');
const placeConf = await readFile(join(root, 'deploy/nginx/containers.conf'), 'utf8');
const hostConf = await readFile(join(root, 'deploy/nginx/host.conf'), 'utf8');
const serverConf = await readFile(join(root, 'deploy/nginx/server.conf'), 'utf8');

describe('the Atelier services', () => {
  it('are complete for production, without stand-ins', () => {
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

  it('lets browsers call public URLs, and the server of the console call the services', async () => {
    const environment = await environmentOf('console');
    const hosts = ['media', 'auth', 'agent', 'memory', 'content'].map((name) => [
      name,
      `https://${name}.${environment.ATELIER_DOMAIN}`,
    ]);
    expectConsoleUrls(environment, Object.fromEntries(hosts));
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

  it('share one image, which is built once from this folder', () => {
    const builds = entries.flatMap(([, { build }]) => build ?? []);
    expect(builds).toEqual([expect.objectContaining({ context: '..', dockerfile: 'deploy/Dockerfile' })]);
    expect(existsSync(join(root, 'deploy/Dockerfile'))).toBe(true);
    // No registry has it.
    expect(ours.map(([, service]) => service.pull_policy)).toEqual(ours.map(() => 'never'));
  });

  it.each(ours)('%s: can read the files that settings name', (_name, { volumes: mounts }) => {
    expect(mounts).toContain('./config:/config:ro');
  });

  it.each(ours)('%s: writes only to its volumes and /tmp', (_name, service) => {
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
    for (const mount of service.volumes ?? []) {
      const [source = ''] = mount.split(':');
      if (!source.startsWith('.')) expect(volumes).toHaveProperty(source);
      // The operator provides these files.
      else if (!['./certificates', './config'].includes(source))
        expect(existsSync(join(root, 'deploy', source)), source).toBe(true);
    }
    if (service.image !== 'atelier') expect(service.image).toMatch(/:\d+\.\d+/);
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
    if (service.image !== 'atelier' && name !== 'nginx') expect(service.user).toMatch(/^(?!root|0)/);
    for (const mount of service.tmpfs ?? []) expect(mount).toMatch(/:size=\d+m/);
  });

  it.each(entries)('%s: is created although its root is read-only', (_name, service) => {
    // Compose copies them into the container, which Docker then refuses.
    expect([service.configs, service.secrets]).toEqual([undefined, undefined]);
  });

  it.each(entries)('%s: its program receives the signal of a stop', (name, { entrypoint = [], command = [], init }) => {
    if (ours.some(([one]) => one === name)) expect(init).toBe(true);
    const script = [...entrypoint, ...command].find((_word, index, words) => words[index - 1] === '-c');
    // A shell as the first process ignores SIGTERM. In a pipeline, `exec` replaces only a child of it.
    if (script === undefined || name === 'buckets') return;
    expect(script.split(/&&|\n/).filter((line) => line.trim().startsWith('exec '))).toHaveLength(1);
    expect(script).not.toContain('|');
  });

  it('have the time that they need to stop', () => {
    const seconds = (name: string) => Number.parseInt(services[name]?.stop_grace_period ?? '10s', 10);
    expect(seconds('s3')).toBeGreaterThan(20);
    const { agent } = readConfig({}, [], { keepSecrets: false });
    for (const name of ['app-1', 'app-2']) expect(seconds(name)).toBeGreaterThan(agent.drainS);
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

const upstreamLine = /^upstream ([\w-]+) +\{ (.+) \}$/gm;

describe('nginx', () => {
  it('finds each process by name', () => {
    const named = new Set([...placeConf.matchAll(/server ([\w-]+):\d+/g)].map((match) => String(match[1])));
    expect([...named].filter((name) => services[name] === undefined)).toEqual([]);
  });

  it('looks up the addresses of containers again, because a new container has a new one', () => {
    const upstreams = [...placeConf.matchAll(upstreamLine)];
    const names = upstreams.map(([, name = '']) => name);
    const used = [...nginxConf.matchAll(/proxy_pass http:\/\/(\w+)/g)].map(([, name = '']) => name);
    const drained = [...nginxConf.matchAll(/set \$service (\w+);/g)].flatMap(([, name]) => [
      `${name}-first`,
      `${name}-second`,
    ]);
    expect([...names].sort()).toEqual([...new Set([...used, ...drained])].sort());
    expect([...hostConf.matchAll(upstreamLine)].map(([, name]) => name)).toEqual(names);
    for (const [, name, text = ''] of upstreams) {
      const servers = text.split('; ').filter((line) => line.startsWith('server '));
      expect(servers.filter((line) => !line.endsWith(' resolve'))).toEqual([]);
      // `resolve` keeps the addresses in it.
      expect(text).toContain(`zone ${name} `);
    }
    expect(placeConf).toMatch(/^resolver 127\.0\.0\.11 valid=\d+s/m);
    const [, major, minor, patch] = /^nginx:(\d+)\.(\d+)\.(\d+)$/.exec(services.nginx?.image ?? '') ?? [];
    // The first version with `resolve`.
    expect(Number(major) * 1e6 + Number(minor) * 1e3 + Number(patch)).toBeGreaterThanOrEqual(1_027_003);
  });

  it('sets the log of each server, which replaces the log of the image', () => {
    const servers = nginxConf.split(/^server \{$/m).slice(1);
    expect(servers).not.toEqual([]);
    for (const server of servers) expect(server).toContain('include /etc/nginx/atelier/server.conf;');
    expect(serverConf).toMatch(/^access_log +\/var\/log\/nginx\/access\.log atelier;$/m);
  });

  it('trusts the subnet of the services, and not its gateway', () => {
    const [{ subnet, gateway } = { subnet: '', gateway: '' }] = networks.services?.ipam?.config ?? [];
    expect(placeConf).toMatch(new RegExp(`^ +${subnet.replaceAll('.', '\\.')} +1;$`, 'm'));
    expect(placeConf).toMatch(new RegExp(`^ +${gateway.replaceAll('.', '\\.')} +0;$`, 'm'));
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
    const { identities } = JSON.parse(services.s3?.environment?.S3_IDENTITIES ?? '');
    expect(identities).toHaveLength(1);
    const [{ credentials, actions }] = identities;
    expect(credentials).toEqual([{ accessKey: S3_ACCESS_KEY_ID, secretKey: S3_SECRET_ACCESS_KEY }]);
    const buckets = [S3_BUCKET, S3_PUBLIC_BUCKET];
    expect(actions).toEqual(
      buckets.flatMap((bucket) => ['Read', 'Write', 'List'].map((action) => `${action}:${bucket}`)),
    );
    expect(placeConf).toContain(`"~^/(${buckets.join('|')})/."`);
    expect(services.buckets?.command?.join()).toContain(`for bucket in ${buckets.join(' ')};`);
  });

  it('writes its accounts to memory, readable by itself only, before it starts', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'atelier-s3-'));
    const file = join(folder, 's3.json');
    try {
      const {
        entrypoint: [shell = '', flag = '', script = '', name = ''] = [],
        command = [],
        environment,
      } = services.s3 ?? {};
      expect(command).toContain('-s3.config=/tmp/s3.json');
      expect(services.s3?.tmpfs?.join()).toContain('/tmp:');
      const here = script.replaceAll('$$', '$').replace('/tmp/s3.json', file).replace('/entrypoint.sh', 'echo');
      const env = { PATH: process.env.PATH, ...environment };
      const { stdout } = await promisify(execFile)(shell, [flag, here, name, ...command], { env });
      expect(stdout.trim().split(' ')).toEqual(command);
      expect(await readFile(file, 'utf8')).toBe(environment?.S3_IDENTITIES);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('reserves no disk for files that do not exist', () => {
    expect(services.s3?.command).toContain('-master.volumePreallocate=false');
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
    'rejects commands without it, does not show it in its command line, and ends on SIGTERM',
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
        const ended = once(server, 'exit');
        server.kill('SIGTERM');
        expect(await ended).toEqual([0, null]);
      } finally {
        // Without a pid it never started, and a kill of process group 0 would end the test run.
        if (server.pid !== undefined && server.exitCode === null) process.kill(-server.pid, 'SIGKILL');
        await rm(folder, { recursive: true });
      }
    },
  );
});
