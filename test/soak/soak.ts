/**
 * Mixed traffic over two processes on the real engines, while processes, engines, networks, clocks, disks and certificates fail at
 * random. All acknowledged data must exist at the end (docs/soak.md).
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { run } from '../acceptance/running.fixture.ts';
import { clockFileEnv } from '../clock.fixture.ts';
import { makeImage } from '../media/images.fixture.ts';
import { digestOf, openLists } from '../media/lists.fixture.ts';
import { dropBucket, testServer } from '../platform/objects/s3.fixture.ts';
import { freePortBase } from '../ports.fixture.ts';
import { type Actor, chatter, mailer, rememberer, type Stage, sessionHolder, uploader } from './actors.ts';
import { type Book, createCaller, Over, openBook } from './calls.ts';
import { startPostgres, startRedis } from './engines.ts';
import { faultsOf, type Node, prepareClock } from './faults.ts';
import { layNetwork } from './network.ts';
import { signIn } from './signin.ts';
import { startSuite } from './suites.ts';

export interface SoakOptions {
  readonly seconds: number;
  /** Seconds between the end of one fault and the next. */
  readonly faultEveryS: number;
  readonly print: (line: string) => void;
}

const internalKey = 'a key of the soak';
const adminToken = 'a token of the soak';
const services = ['media', 'image', 'auth', 'agent', 'memory', 'content', 'notify', 'edge'];

export async function soak({ seconds, faultEveryS, print }: SoakOptions): Promise<Book> {
  const book = openBook();
  const closing: (() => Promise<unknown>)[] = [];
  const opened = <Part>(part: Part, close: (part: Part) => Promise<unknown>): Part => {
    closing.unshift(() => close(part));
    return part;
  };
  try {
    const folder = opened(await mkdtemp(join(tmpdir(), 'atelier-soak-')), (path) => rm(path, { recursive: true }));
    const lists = opened(await openLists(), (part) => part.close());
    const prohibited = await makeImage('jpeg', { width: 200, height: 160, seed: 9 });
    await lists.write('sha256', digestOf('sha256', prohibited));
    const postgres = opened(await startPostgres(), (part) => part.close());
    const redis = opened(await startRedis(), (part) => part.close());
    const toS3 = opened(await layNetwork({ port: Number(new URL(testServer.endpoint).port || 80) }), (part) =>
      part.close(),
    );
    const clock = await prepareClock(folder);
    const buckets = { S3_BUCKET: `soak-${Date.now()}`, S3_PUBLIC_BUCKET: `soak-${Date.now()}-public` };
    for (const bucket of Object.values(buckets)) opened(bucket, dropBucket);

    const [baseA, baseB, baseC] = [await freePortBase(), await freePortBase(), await freePortBase()];
    const idp = `http://localhost:${baseC + 11}`;
    const origin = 'http://localhost:3000';
    opened(
      await startSuite(['idp', 'cms'], baseC, {
        ATELIER_DATA_DIR: join(folder, 'stand-ins'),
        IDP_REDIRECT_URLS: `http://localhost:${baseA + 3}/callback,http://localhost:${baseB + 3}/callback`,
        ALLOWED_REDIRECT_ORIGINS: origin,
      }),
      (part) => part.stop(),
    );
    const env = {
      ...buckets,
      ATELIER_DATA_DIR: join(folder, 'suite'),
      DATABASE_POOL_SIZE: '8',
      S3_ENDPOINT: `http://127.0.0.1:${toS3.port}`,
      S3_REGION: testServer.region,
      S3_ACCESS_KEY_ID: testServer.accessKeyId,
      S3_SECRET_ACCESS_KEY: testServer.secretAccessKey,
      IDP_URL: idp,
      CMS_URL: `http://localhost:${baseC + 12}`,
      ALLOWED_REDIRECT_ORIGINS: origin,
      INTERNAL_KEY: internalKey,
      MEMORY_ADMIN_TOKEN: adminToken,
      MEDIA_BLOCKED_HASHES: lists.folder,
      SMTP_URL: 'outbox',
    };
    const place = async (name: string, portBase: number, clockEnv: Readonly<Record<string, string>>): Promise<Node> => {
      const toPostgres = opened(await layNetwork(postgres), (part) => part.close());
      const toRedis = opened(await layNetwork(redis, clock?.valid), (part) => part.close());
      const own = {
        ...env,
        DATABASE_URL: `postgres://postgres@127.0.0.1:${toPostgres.port}/postgres`,
        REDIS_URL: `${clock ? 'rediss' : 'redis'}://127.0.0.1:${toRedis.port}`,
        ...(clock && { NODE_EXTRA_CA_CERTS: clock.valid.certificateFile }),
        ATELIER_PORT_BASE: String(portBase),
      };
      const suite = opened(await startSuite(services, portBase, { ...own, ...clockEnv }), (part) => part.stop());
      return { name, env: own, suite, toPostgres, toRedis };
    };
    const first = await place('the first process', baseA, {});
    const second = await place('the second process', baseB, clock ? clockFileEnv(clock.file) : {});
    const nodes = [first, second];
    const suites = [first.suite, second.suite] as const;
    print('both processes are ready');

    let isOver = false;
    let redisEmptiedAtMs = Number.NEGATIVE_INFINITY;
    const over = () => isOver;
    const bases = [baseA, baseB];
    const { userId, session, ...signedIn } = await signIn(`http://localhost:${baseA + 3}`, origin, 'soak@example.com');
    await run('credits', [userId, 'pro', '1000000'], first.env).ended(60_000);
    let { accessToken } = signedIn;
    const stage: Stage = {
      book,
      userId,
      token: () => accessToken,
      isOver: over,
      redisEmptiedAtMs: () => redisEmptiedAtMs,
      user: createCaller(book, bases, () => ({ authorization: `Bearer ${accessToken}` }), over),
      server: createCaller(book, bases, () => ({ 'x-internal-key': internalKey }), over),
    };
    const admin = createCaller(book, bases, () => ({ 'x-admin-token': adminToken }), over);
    const actors = [
      uploader(stage, prohibited),
      uploader(stage, prohibited),
      chatter(stage),
      chatter(stage),
      chatter(stage),
      rememberer(stage, admin),
      mailer(stage, join(folder, 'suite', 'outbox')),
      sessionHolder(stage, session, origin, (token) => {
        accessToken = token;
      }),
    ];
    const working = actors.map((actor) => keepActing(actor, book, over));

    const memory = suites.map((): number[] => []);
    const sampling = setInterval(() => {
      for (const [at, suite] of suites.entries()) memory[at]?.push(suite.residentBytes() ?? 0);
    }, 1000);
    const faults = faultsOf({
      nodes,
      postgres,
      redis,
      toS3,
      clock,
      onRedisEmptied: () => {
        redisEmptiedAtMs = performance.now();
      },
    });
    const endAtMs = performance.now() + seconds * 1000;
    // Causes each fault at least once, even in a short soak.
    do {
      for (const [name, strike] of shuffled(faults)) {
        await sleep(faultEveryS * 1000);
        print(name);
        await strike();
        book.count(`fault: ${name}`);
      }
    } while (performance.now() < endAtMs);
    // The system recovers automatically within 15 s of the engine's return. A run of a dead process ends within 30 s.
    await sleep(15_000);
    isOver = true;
    await Promise.all(working);
    clearInterval(sampling);
    print('the traffic has ended; verifying acknowledged data');
    isOver = false;
    await sleep(30_000);
    await Promise.all(actors.map((actor) => actor.verify()));
    const sweep = run('sweep', [], first.env);
    await sweep.ended(120_000);
    const findings = sweep.output().split('\n');
    if (!findings.some((line) => line.startsWith('To be removed'))) book.breach(`sweep: ${sweep.output()}`);
    for (const line of findings)
      if (/^(would remove|left)\s+asset without object|^FAULT/.test(line)) book.breach(`sweep: ${line}`);
    book.count(`memory of the first process, MiB: ${courseOf(memory[0])}`);
    book.count(`memory of the second process, MiB: ${courseOf(memory[1])}`);
    checkMemory(
      book,
      memory.flatMap((samples) => [samples]),
      seconds,
    );
    const strange = [...suites[0].errors, ...suites[1].errors].filter((line) => line.includes('internal_error'));
    for (const line of strange.slice(0, 20)) book.breach(`logged: ${line.slice(0, 400)}`);
    return book;
  } finally {
    for (const close of closing) await close().catch((error: Error) => print(`left behind: ${error.message}`));
  }
}

async function keepActing(actor: Actor, book: Book, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    try {
      await actor.act();
    } catch (error) {
      if (error instanceof Over) return;
      book.breach(`an actor failed: ${error instanceof Error ? error.stack : error}`);
    }
  }
}

const mebibytes = (bytes: number) => Math.round(bytes / 2 ** 20);

const courseOf = (samples: readonly number[] = []) =>
  Array.from({ length: 10 }, (_, at) => mebibytes(samples[Math.floor((at * samples.length) / 10)] ?? 0)).join(' ');

/** Detects leaks in long soaks: compares the maximum of the second half with that of the first. */
function checkMemory(book: Book, processes: readonly (readonly number[])[], seconds: number): void {
  if (seconds < 300) return;
  for (const samples of processes) {
    const middle = Math.floor(samples.length / 2);
    const [first, second] = [Math.max(...samples.slice(0, middle)), Math.max(...samples.slice(middle))];
    if (second > first * 1.25) book.breach(`memory grew from ${mebibytes(first)} to ${mebibytes(second)} MiB`);
  }
}

function shuffled<Item>(items: readonly Item[]): readonly Item[] {
  return items
    .map((item) => [Math.random(), item] as const)
    .sort(([one], [other]) => one - other)
    .map(([, item]) => item);
}
