/**
 * Checks every engine and every external service, one sentence each: what was found, or what is wrong and which setting to
 * change. It can run beside a running instance.
 */
import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { agentOriginsOf, type Config, legacyOf } from '#app/config.ts';
import { migrations } from '#app/migrations.ts';
import { probeQuarantine } from '#media/quarantine/quarantine.ts';
import { createScreening } from '#media/screening/screening.ts';
import { createFfmpeg, withoutFfmpeg } from '#media/video/ffmpeg.ts';
import { systemClock } from '#platform/clock.ts';
import { mapConcurrently } from '#platform/concurrency.ts';
import { isFolderInUse } from '#platform/db/lock.ts';
import { compareMigrations, loadPostgres } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';
import type { Objects } from '#platform/objects/objects.ts';
import { openLegacyObjects, openObjects } from '#platform/objects/open.ts';
import { probeRedis } from '#platform/redis/open.ts';
import { commit, outgoingFetch, version } from '#platform/version.ts';
import { checkImageModel, checkVideoModel } from './generators.ts';
import { checkEmbeddings, checkModel } from './models.ts';
import { type Outcome, reasonOf, Warning } from './probing.ts';
import * as services from './services.ts';
import { checkServices } from './siblings.ts';

/** Returns a finding. A thrown error is a fault, and its message explains the fix. A Warning does not change the exit code. */
type Check = (config: Config) => Promise<Outcome>;

const checks: Readonly<Record<string, Check>> = {
  runtime: async () =>
    `Atelier ${version} (${commit}), Node ${process.versions.node} on ${process.platform}-${process.arch}`,
  database: checkDatabase,
  upgrade: checkUpgrade,
  redis: checkRedis,
  objects: checkObjects,
  legacy: checkLegacy,
  services: checkServices,
  resizing: services.checkResizing,
  cdn: services.checkCdn,
  identity: services.checkIdentity,
  cms: services.checkCms,
  mail: services.checkMail,
  model: checkModel,
  'image model': checkImageModel,
  'video model': checkVideoModel,
  embeddings: checkEmbeddings,
  'mcp servers': services.checkMcpServers,
  webhooks: services.checkWebhooks,
  screening: checkScreening,
  classifier: services.checkClassifier,
  quarantine: checkQuarantine,
  prompts: services.checkPromptScreening,
  'content credentials': services.checkCredentials,
  ffmpeg: checkVideo,
};

const log = createLog({ level: 'silent' });

export interface Finding {
  readonly state: 'ok' | 'warn' | 'FAULT';
  /** An engine or an external service. */
  readonly name: string;
  readonly sentence: string;
}

/** Runs all checks at once. `onFinding` is called as each ends. */
export async function examine(
  config: Config,
  onFinding: (finding: Finding) => void = () => undefined,
): Promise<readonly Finding[]> {
  const find = async (name: string, check: Promise<Outcome>): Promise<readonly Finding[]> => {
    const report = (state: Finding['state'], sentence: string) => {
      const finding = { state, name, sentence };
      onFinding(finding);
      return [finding];
    };
    try {
      const outcome = await check;
      if (typeof outcome === 'string') return report('ok', outcome);
      return (await Promise.all(outcome.map(([part, sentence]) => find(`${name} ${part}`, sentence)))).flat();
    } catch (error) {
      const state = error instanceof Warning ? 'warn' : 'FAULT';
      return report(state, withCertificateHint((error as Error).message).replaceAll('\n', ' '));
    }
  };
  return (await Promise.all(Object.entries(checks).map(([name, check]) => find(name, check(config))))).flat();
}

/** Node.js suggests an option of its command line, which `npm start` does not pass on. */
function withCertificateHint(message: string): string {
  return message.replace(
    /; if the root CA is installed locally, try running Node\.js with --use-system-ca/g,
    '; for a private authority, set NODE_EXTRA_CA_CERTS to the file of its certificate',
  );
}

async function checkDatabase({ database, process: { dataDir } }: Config): Promise<string> {
  if (database.url === 'embedded') {
    await checkFolder(dataDir);
    return `PGlite in ${dataDir}, ${isFolderInUse(dataDir) ? 'in use by a running instance' : 'not in use'}`;
  }
  return (await loadPostgres()).probePostgres(database.url);
}

/** Reports the changes that a start of this version makes to the database. */
async function checkUpgrade({ database }: Config): Promise<string> {
  if (database.url === 'embedded') return 'a start applies the migrations of this version to the embedded database';
  const { isNew, pending, newer } = await compareMigrations(database.url, migrations);
  if (isNew) return 'the database is new; a start creates the tables';
  if (newer.length > 0)
    throw new Warning(
      `a newer version has applied ${newer.join(', ')}; this version works on them if docs/upgrading.md permits it`,
    );
  if (pending.length === 0) return 'the database is up to date';
  return `a start applies ${pending.length} migrations: ${pending.join(', ')}`;
}

async function checkRedis({ redis, database }: Config): Promise<string> {
  if (redis.url === 'embedded')
    return database.url === 'embedded' ? 'in process' : 'in process, so one process per service; see REDIS_URL';
  const { version, keepsAll, survivesRestart, refusal } = await probeRedis(
    redis.url,
    `${redis.prefix ?? 'atelier:doctor'}:`,
  );
  if (refusal !== undefined)
    throw new Error(
      `Redis ${version} responds and refuses writes (${refusal}); check REDIS_URL, and the ACL of its user`,
    );
  const warnings = [
    ...(keepsAll ? [] : ['it may evict streams in progress: set maxmemory-policy noeviction']),
    ...(survivesRestart ? [] : ['streams in progress end with it: set appendonly yes']),
  ];
  if (warnings.length > 0) throw new Warning([`Redis ${version} responds`, ...warnings].join('; '));
  return `Redis ${version} responds`;
}

async function checkObjects(config: Config): Promise<string> {
  const {
    objects,
    process: { dataDir },
  } = config;
  // In production mode, a missing bucket is reported and not created.
  const opened = await openObjects({ settings: objects, production: true, dataDir, clock: systemClock, log });
  try {
    if (opened.driver === 'files') {
      await checkFolder(dataDir);
      return await reportSample(config, opened.originals, `files in ${dataDir}`);
    }
    await Promise.all([opened.originals.check(), opened.publicObjects.check()]).catch((error: Error) => {
      throw new Error(
        `the S3 server is not responding (${reasonOf(error)}); check S3_ENDPOINT, S3_BUCKET and the keys`,
      );
    });
    const createOnly = await opened.probeCreateOnly();
    const { isClosed, sentence } = await opened.examineOrigins();
    const facts = [
      createOnly === 'honored'
        ? 'the S3 server responds and supports create-only writes'
        : 'the S3 server responds; it does not support create-only writes, so a signed PUT may overwrite within its 300 seconds',
      sentence,
    ].join('; ');
    if (isClosed) throw new Warning(`${facts}; docs/objects.md has the rule for the bucket ${objects.bucket}`);
    await assertOpenToBrowsers(opened.originals, agentOriginsOf(config)[0]);
    return await reportSample(config, opened.originals, facts);
  } finally {
    await opened.close();
  }
}

const sampleSize = 200;
const headsAtOnce = 16;

/** Looks for the objects of some assets, because all of them can be millions. The embedded database cannot be read beside a process. */
async function reportSample({ database: { url } }: Config, originals: Objects, facts: string): Promise<string> {
  if (url === 'embedded') return facts;
  const { readPostgres, tablesOfPostgres } = await loadPostgres();
  if (!(await tablesOfPostgres(url)).has('assets')) return facts;
  const rows = await readPostgres<{ readonly storage_key: string }>(
    url,
    // The ids after a random one, and then those from the start.
    `select storage_key from assets
    where backend = 'objects' and bucket = $1 and ready_at is not null
    order by asset_id < $2, asset_id limit $3`,
    [originals.bucket, randomUUID(), sampleSize],
  );
  if (rows.length === 0) return facts;
  const heads = await mapConcurrently(rows, headsAtOnce, ({ storage_key: key }) => originals.head(key));
  const missing = heads.filter((head) => head === undefined).length;
  const report = `${facts}; ${missing} of ${rows.length} sampled originals are missing`;
  if (missing > 0) throw new Warning(`${report}; \`npm run sweep\` lists all, and docs/operations.md has the restore`);
  return report;
}

async function checkLegacy(config: Config): Promise<string> {
  const { dataDir } = config.process;
  const legacy = openLegacyObjects({ settings: legacyOf(config), ownBuckets: [], dataDir, clock: systemClock });
  try {
    if (legacy.driver === 'off') return 'off: legacy refs do not resolve';
    if (legacy.driver === 'files') {
      await checkFolder(join(dataDir, 'legacy'));
      return `files in ${join(dataDir, 'legacy')}, a folder per bucket`;
    }
    await legacy.check().catch((error: Error) => {
      throw new Error(`the S3 server is not responding (${reasonOf(error)}); check LEGACY_S3_ENDPOINT and its keys`);
    });
    return 'the S3 server responds';
  } finally {
    await legacy.close();
  }
}

/** Only video features need it. */
async function checkVideo({ media }: Config): Promise<string> {
  await createFfmpeg(media.ffmpegPath)
    .check()
    .catch(() => {
      throw new Warning(withoutFfmpeg(media.ffmpegPath));
    });
  return `ffmpeg at ${media.ffmpegPath}`;
}

/** Reads the lists in the same way as the image check. */
async function checkScreening({ media: { blockedHashes } }: Config): Promise<string> {
  if (blockedHashes === undefined) return 'no lists (MEDIA_BLOCKED_HASHES is not set)';
  const screening = createScreening({ blockedHashes, screeningUrl: undefined });
  try {
    await screening.checkLists();
    return `the lists in ${blockedHashes} are readable`;
  } catch (error) {
    throw new Error(`the lists are unusable (${reasonOf(error as Error)}); check MEDIA_BLOCKED_HASHES`);
  } finally {
    await screening.close();
  }
}

/** Decrypts one of the retained objects. */
async function checkQuarantine({ objects, media, process: { dataDir } }: Config): Promise<string> {
  const opened = await openObjects({ settings: objects, production: true, dataDir, clock: systemClock, log });
  try {
    const result = await probeQuarantine(opened.originals, media.quarantineKey);
    if (result === 'broken')
      throw new Error(
        'MEDIA_QUARANTINE_KEY does not decrypt the blocked objects; set the key of the time when they were blocked',
      );
    if (result === 'locked')
      throw new Warning(
        'there are encrypted copies of blocked objects; set MEDIA_QUARANTINE_KEY to the key of that time to read them',
      );
    if (media.quarantineKey === undefined) return 'blocked objects are deleted (MEDIA_QUARANTINE_KEY is not set)';
    return `blocked objects are retained for ${media.quarantineDays} days${result === 'opened' ? ', and the key decrypts them' : ''}`;
  } finally {
    await opened.close();
  }
}

/** The folder is writable, or can be created. */
async function checkFolder(folder: string): Promise<void> {
  for (let path = folder; ; path = dirname(path)) {
    try {
      await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' && path !== dirname(path)) continue;
      throw new Error(`${path} is not writable; set ATELIER_DATA_DIR to a writable folder`);
    }
  }
}

// Uses signed URLs of the object store as a page in a browser does, because a proxy can treat services and browsers differently.

const expiresInS = 60;
const timeoutMs = 5000;
const bytes = Buffer.from('doctor');

/** Writes a small object, reads it, and removes it. `pattern`: an origin that may call the services. */
async function assertOpenToBrowsers(originals: Objects, pattern = 'http://localhost:3000'): Promise<void> {
  const key = `doctor/${randomUUID()}`;
  const origin = pattern.replace('*', 'app');
  const { url, headers } = originals.writeAddress(key, {
    expiresInS,
    contentType: 'text/plain',
    maxSize: bytes.length,
  });
  try {
    const put = await call('PUT', url, { ...headers, origin }, bytes);
    const get = await call('GET', originals.readAddress(key, { expiresInS }), { origin });
    if (!get.body.equals(bytes)) throw new Error(`a signed GET at ${get.place} returns another object; ${advice}`);
    const allowed = put.headers.get('access-control-allow-origin');
    if (allowed !== '*' && allowed !== origin)
      throw new Warning(
        `pages of ${origin} cannot upload to ${put.place}; docs/objects.md has the CORS rule for the bucket ${originals.bucket}`,
      );
  } finally {
    await originals.remove([key]);
  }
}

const advice = 'check S3_ENDPOINT, S3_BUCKET, and the rules of the proxy in front of it (docs/objects.md)';

async function call(method: 'GET' | 'PUT', url: string, headers: Readonly<Record<string, string>>, body?: Buffer) {
  const place = new URL(url).origin;
  const init = { method, headers, body: body ? new Uint8Array(body) : null, redirect: 'manual' } as const;
  const response = await outgoingFetch(url, { ...init, signal: AbortSignal.timeout(timeoutMs) }).catch(
    (error: Error) => {
      throw new Error(`a signed ${method} at ${place} fails (${reasonOf(error)}); ${advice}`);
    },
  );
  const received = Buffer.from(await response.arrayBuffer());
  if (response.status !== 200)
    throw new Error(`a browser's signed ${method} at ${place} returns ${response.status}; ${advice}`);
  return { place, headers: response.headers, body: received };
}
