/** docs/specification/system.md#startup-and-shutdown: starting and stopping, observed from outside. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { credits } from '#commands/credits.ts';
import { demo } from '#commands/demo.ts';
import { doctor } from '#commands/doctor.ts';
import { seed } from '#commands/seed.ts';
import { token } from '#commands/token.ts';
import { createPostgresDatabase, databaseEngines } from '../database.fixture.ts';
import { everyNth, isNightly } from '../lane.fixture.ts';
import { skipWithout } from '../programs.fixture.ts';
import { runInProcess } from './inprocess.fixture.ts';
import { newPlace, type Place, type Program, root, run } from './running.fixture.ts';

const ready = 'Atelier is ready';
const standIns = ['IDP_URL', 'CMS_URL', 'MODEL_BASE_URL', 'IMAGE_MODEL_BASE_URL', 'VIDEO_MODEL_BASE_URL'];
const lastLine = 'RESEND_API_KEY or SMTP_URL';
let place: Place;
const programs: Program[] = [];

beforeAll(async () => {
  place = await newPlace();
});
afterEach(async () => {
  for (const program of programs.splice(0)) {
    program.child.kill('SIGKILL');
    await program.ended();
  }
});
afterAll(() => place.remove());

function launch(command: string, args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): Program {
  const program = run(command, args, { ...place.env, ...env });
  programs.push(program);
  return program;
}

/** Returns the lines that a program printed without a terminal. */
const linesOf = (program: Program) =>
  program
    .output()
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);

const health = (offset: number, path = '/health') => fetch(`http://127.0.0.1:${place.portBase + offset}${path}`);

const withoutPostgres = databaseEngines.some(({ name, missing }) => name === 'postgres' && missing);

describe('npm start with all services', () => {
  let program: Program;
  let agentWhenHealthy: number;
  const statusOf = (offset: number) =>
    health(offset).then(
      ({ status }) => status,
      () => 0,
    );
  const lines = () => linesOf(program);
  const says = async (command: typeof credits, args: readonly string[], code = 0) => {
    const ended = await runInProcess(command, args, place.env);
    expect(ended.code, ended.output).toBe(code);
    return ended.output;
  };

  beforeAll(async () => {
    program = run('start', [], place.env);
    // Media listens first, and the agent last.
    await vi.waitFor(async () => expect(await statusOf(1)).toBe(200), { interval: 5, timeout: 60_000 });
    agentWhenHealthy = await statusOf(4);
    await program.waitFor(lastLine);
  });
  afterAll(async () => {
    program.child.kill('SIGKILL');
    await program.ended();
  });

  it('is healthy only when every service listens', () => expect(agentWhenHealthy).toBe(200));

  it('starts every service, prints each URL, and responds', async () => {
    for (const [service, offset] of [
      ['media', 1],
      ['auth', 3],
      ['agent', 4],
      ['content', 6],
      ['notify', 7],
      ['edge', 10],
      ['idp', 11],
      ['cms', 12],
      ['console', 0],
    ] as const) {
      const address = `http://localhost:${place.portBase + offset}`;
      expect(lines()).toContainEqual(
        expect.objectContaining({
          service,
          address,
          msg: expect.stringMatching(new RegExp(`^${service} +${address}$`)),
        }),
      );
      expect(await (await health(offset)).json()).toEqual({ status: 'ok', service });
      expect((await health(offset, '/ready')).status).toBe(200);
    }
    expect(await (await health(2)).text()).toBe('ok');
  });

  it('prints the URL of the console and the stand-ins last, as JSON if the output is not a terminal', () => {
    const ready = lines().findIndex(({ msg }) => String(msg).startsWith('Atelier is ready in '));
    const [studioLine, operatorsLine, ...rest] = lines().slice(ready + 1, ready + 3 + standIns.length + 1);
    expect(studioLine?.msg).toContain(`http://localhost:${place.portBase}`);
    expect(operatorsLine?.msg).toContain('/operator');
    expect(rest.map(({ setting }) => setting)).toEqual([...standIns, lastLine]);
    for (const { level, time } of lines())
      expect([level, Date.parse(String(time))]).toEqual([expect.any(String), expect.any(Number)]);
  });

  it('prints none of the secrets that it generated, but their file, if the output is not a terminal', async () => {
    const secrets: Record<string, string> = JSON.parse(await readFile(join(place.dataDir, 'secrets.json'), 'utf8'));
    for (const [name, secret] of Object.entries(secrets)) expect(program.output().includes(secret), name).toBe(false);
    expect(program.output()).toContain('CONSOLE_TOKEN from secrets.json');
    const origin = `http://localhost:${place.portBase}`;
    const session = await fetch(`${origin}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin },
      body: JSON.stringify({ token: secrets.CONSOLE_TOKEN }),
    });
    expect(session.status).toBe(204);
  });

  it('rejects a second start on the same folder, and continues', async () => {
    const second = launch('start', [], { ATELIER_PORT_BASE: String(place.portBase + 200) });
    expect(await second.ended()).toBe(1);
    expect(second.output().trim().split('\n')).toHaveLength(1);
    expect(second.output()).toContain(place.dataDir);
    expect((await health(1, '/ready')).status).toBe(200);
  });

  it.runIf(isNightly)(
    'token, demo and doctor work with it, and doctor reports faults',
    { timeout: 90_000 },
    async () => {
      const other = launch('token', ['ada@example.com']);
      expect(await other.ended()).toBe(0);
      expect(other.output().trim()).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
      const steps = await says(demo, []);
      expect(steps).toMatch(/Preview +image\/webp/);
      expect(steps).toMatch(/Recall .*evening light/);
      expect(await says(doctor, [])).toMatch(/^ok +database/m);
      const unwell = await runInProcess(doctor, [], {
        ...place.env,
        S3_ENDPOINT: 'http://127.0.0.1:1',
        S3_BUCKET: 'a',
        S3_PUBLIC_BUCKET: 'b',
        S3_ACCESS_KEY_ID: 'c',
        S3_SECRET_ACCESS_KEY: 'd',
      });
      expect(unwell.code).toBe(1);
      expect(unwell.output).toMatch(/S3_ENDPOINT/);
    },
  );

  it('credits and seed work through it; it exits with 0 on SIGTERM, and they work without it', async () => {
    expect(await says(credits, ['ada@example.com', 'basic', '7'])).toBe('ada@example.com: basic, 7 credits');
    expect(await says(seed, [])).toMatch(
      /5 test users and 6 feeds[\s\S]* quiet@example.com\.[\s\S]* enter the address/,
    );
    expect(await says(credits, ['ada@example.com', 'gold', '7'], 1)).toContain('plan does not exist');
    expect(await says(credits, ['ada@example.com', 'pro', '-7'], 1)).toContain('whole number');
    expect(await says(credits, ['nobody', 'pro', '7'], 1)).toContain('an id or an email address');
    // A sign-in must not undo what the operator set.
    await says(token, ['ada@example.com']);
    program.child.kill('SIGTERM');
    expect(await program.ended(10_000)).toBe(0);
    const id = '6f9619ff-8b86-4d01-b42d-00cf4fc964ff';
    expect(await says(credits, [id, 'max', '0'])).toBe(`${id}: max, 0 credits`);
    expect(await says(seed, [])).toContain('5 test users and 6 feeds');
  });
});

describe('npm start on the same folder', () => {
  it('does not print the operator’s link again, and takes the folder over immediately after a kill -9', async () => {
    const first = launch('start', ['console', 'content']);
    await first.waitFor(ready);
    expect(first.output()).toContain(`Studio: http://localhost:${place.portBase}`);
    expect(first.output()).not.toContain('token=');
    first.child.kill('SIGKILL');
    const second = launch('start', ['content']);
    await second.waitFor(ready);
  });

  it('stores the generated secrets, starts only the named services, prints in order, and reports a port in use', async () => {
    const file = join(place.dataDir, 'secrets.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const secrets = JSON.parse(await readFile(file, 'utf8'));
    expect(Object.keys(secrets)).toEqual(
      expect.arrayContaining(['INTERNAL_KEY', 'IMGPROXY_KEY', 'IMGPROXY_SALT', 'SVC_IMAGE_KEY_SECRET']),
    );
    const program = launch('start', ['image', 'cms']);
    await program.waitFor(ready);
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(secrets);
    // Only the named services run.
    expect((await health(2)).status).toBe(200);
    await expect(health(1)).rejects.toThrow();
    const second = launch('start', ['image']);
    expect(await second.ended()).toBe(1);
    expect(second.output()).toContain('ATELIER_PORT_BASE');
    program.child.kill('SIGINT');
    expect(await program.ended(10_000)).toBe(0);
    const messages = linesOf(program).map(({ msg }) => String(msg));
    const listening = messages.findLastIndex((msg) => msg.startsWith('Server listening'));
    expect(listening).toBeGreaterThanOrEqual(0);
    expect(listening).toBeLessThan(messages.findIndex((msg) => msg.startsWith('image ')));
    expect(messages.at(-1)).toBe('stopping');
  });
});

describe.skipIf(withoutPostgres)('npm start on PostgreSQL without Redis', () => {
  // A lease of a dead process lasts 20 s. The quick lane tests leases in servicelease.test.ts.
  it.runIf(isNightly)(
    'runs one process per service: rejects a second one, and replaces a dead one',
    {
      timeout: 120_000,
    },
    async () => {
      const database = await createPostgresDatabase();
      const other = await newPlace();
      try {
        const first = launch('start', ['content'], { DATABASE_URL: database.url });
        await first.waitFor(ready);
        const second = launch('start', ['content'], { ...other.env, DATABASE_URL: database.url });
        expect(await second.ended()).toBe(1);
        expect(second.output()).toMatch(/^REDIS_URL: another process runs content on this database/m);
        expect((await health(6)).status).toBe(200);
        first.child.kill('SIGKILL');
        await first.ended();
        const third = launch('start', ['content'], { DATABASE_URL: database.url });
        await third.waitFor(ready);
        expect((await health(6)).status).toBe(200);
        third.child.kill('SIGTERM');
        expect(await third.ended()).toBe(0);
      } finally {
        await other.remove();
        await database.drop();
      }
    },
  );
});

describe('the lines of npm start', () => {
  it.runIf(isNightly)('are readable if LOG_FORMAT is pretty', async () => {
    const program = launch('start', ['image', 'auth', 'idp', 'console'], { LOG_FORMAT: 'pretty' });
    await program.waitFor('see IDP_URL');
    const lines = program.output().trim().split('\n');
    expect(lines).toContain(`image    http://localhost:${place.portBase + 2}`);
    expect(lines.at(-2)).toContain(`http://localhost:${place.portBase}`);
    expect(lines.at(-1)).toMatch(/^Stand-in: .*; see IDP_URL\.$/);
  });

  it.skipIf(skipWithout('script'))('are readable on a terminal, even if LOG_LEVEL hides the log', async () => {
    const command = [process.execPath, join(root, 'launch.mjs'), 'start', 'image'].join(' ');
    const child = spawn('script', ['-qec', command, '/dev/null'], {
      env: { ...process.env, ...place.env, LOG_LEVEL: 'silent' },
    });
    const ended = once(child, 'close');
    let printed = '';
    child.stdout.on('data', (chunk) => (printed += chunk));
    await expect.poll(() => printed, { timeout: 60_000 }).toMatch(/^image +http:\/\/localhost:\d+\r?$/m);
    child.kill('SIGTERM');
    await ended;
  });

  it('name only the stand-ins that the started services use, and warn about a misspelled setting and no ffmpeg', async () => {
    const misspelled = { DATABSE_URL: 'postgres://user:hunter2@db/x' };
    const settings = { CMS_URL: 'http://127.0.0.1:9', FFMPEG_PATH: '/nowhere/ffmpeg' };
    const program = launch('start', ['content', 'media'], { ...settings, ...misspelled });
    await program.waitFor(ready);
    await program.waitFor('no ffmpeg and ffprobe at /nowhere/ffmpeg: ');
    const [warning, ...lines] = linesOf(program);
    expect(warning).toMatchObject({ level: 'warn', msg: expect.stringContaining('DATABASE_URL') });
    expect(lines.filter(({ setting }) => setting !== undefined)).toEqual([]);
    expect(program.output()).not.toContain('hunter2');
  });
});

describe('an impossible start exits non-zero with one line that names the setting', () => {
  // test/settings.test.ts tests settings without starting programs.
  it.each(
    everyNth<readonly [Readonly<Record<string, string>>, string]>(
      [
        [{ ATELIER_PORT_BASE: 'many' }, 'ATELIER_PORT_BASE'],
        [{ SVC_IMAGE_MAX_SRC_PIXELS: '0' }, 'SVC_IMAGE_MAX_SRC_PIXELS'],
        [{ DATABASE_URL: 'mysql://x' }, 'DATABASE_URL'],
        [{ DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }, 'DATABASE_URL'],
        [{ S3_ENDPOINT: 'not a URL' }, 'S3_ENDPOINT'],
        [{ S3_ENDPOINT: 'http://127.0.0.1:1' }, 'S3_ACCESS_KEY_ID'],
        [{ IMGPROXY_KEY: 'zz' }, 'IMGPROXY_KEY'],
        [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL'],
        [{ LOG_FORMAT: 'xml' }, 'LOG_FORMAT'],
        [{ EDGE_URL: 'edge' }, 'EDGE_URL'],
      ],
      10,
    ),
  )('%j', async (env, named) => {
    const program = launch('start', [], env);
    expect(await program.ended()).toBe(1);
    expect(program.output().trim().split('\n')).toHaveLength(1);
    expect(program.output()).toContain(named);
  });

  it('a service that does not exist', async () => {
    const program = launch('start', ['medai']);
    expect(await program.ended()).toBe(1);
    expect(program.output()).toContain('medai');
  });

  it('in production, reports all missing settings together and generates nothing', async () => {
    const program = launch('start', ['media', 'image', 'edge'], { NODE_ENV: 'production' });
    expect(await program.ended()).toBe(1);
    for (const name of [
      'INTERNAL_KEY',
      'SVC_IMAGE_INTERNAL_KEY',
      'SVC_IMAGE_KEY_SECRET',
      'IDP_URL',
      'ANON_KEY',
      'IMGPROXY_KEY',
      'IMGPROXY_SALT',
      'EDGE_URL',
      'DATABASE_URL',
      'S3_ENDPOINT',
    ]) {
      expect(program.output()).toContain(name);
    }
    expect(program.output().trim().split('\n')).toHaveLength(1);
  });

  // test/settings.test.ts tests which settings each service requires.
  it.runIf(isNightly)('in production, requires the sender and the public URLs of email and sitemaps', async () => {
    const program = launch('start', ['notify', 'content'], { NODE_ENV: 'production' });
    expect(await program.ended()).toBe(1);
    for (const name of [
      'NOTIFY_FROM',
      'NOTIFY_APP_URL',
      'NOTIFY_UNSUBSCRIBE_URL',
      'SITEMAP_USER_URL',
      'SITEMAP_FEED_URL',
    ])
      expect(program.output()).toContain(name);
    expect(program.output().trim().split('\n')).toHaveLength(1);
  });

  it.runIf(isNightly)('in production, requires only the settings of the services that start', async () => {
    const program = launch('start', ['image'], { NODE_ENV: 'production' });
    expect(await program.ended()).toBe(1);
    expect(program.output()).toContain('SVC_IMAGE_INTERNAL_KEY');
    expect(program.output()).not.toContain('DATABASE_URL');

    const media = launch('start', ['media'], { NODE_ENV: 'production' });
    expect(await media.ended()).toBe(1);
    expect(media.output()).toContain('DATABASE_URL');
    expect(media.output()).not.toContain('SVC_IMAGE_INTERNAL_KEY');
  });
});
