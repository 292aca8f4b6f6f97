/**
 * `npm run doctor`: judges the configuration and reaches every engine that it names, one line each: ok, or what is wrong
 * and how to mend it. Exit code 1 when anything is wrong. May run beside a running instance, and leaves nothing behind.
 */
import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createScreening } from '#media/screening/screening.ts';
import { createFfmpeg } from '#media/video/ffmpeg.ts';
import { openEmbedder } from '#memory/embedding/open.ts';
import { systemClock } from '#platform/clock.ts';
import { ConfigFault } from '#platform/config.ts';
import { readFolder } from '#platform/datafolder/identity.ts';
import { isFolderInUse } from '#platform/db/lock.ts';
import { probePostgres } from '#platform/db/open.ts';
import { createLog } from '#platform/log.ts';
import { openLegacyObjects, openObjects } from '#platform/objects/open.ts';
import { probeRedis } from '#platform/redis/open.ts';
import { addressesOf, type Config, legacyOf, readConfig, servicesByDefault } from '../config.ts';

/** What was found. Throwing means unwell; the message says how to mend it; a Warning leaves the exit code alone. */
type Check = (config: Config) => Promise<string>;

class Warning extends Error {}

const checks: Readonly<Record<string, Check>> = {
  runtime: async () => `Node ${process.versions.node} on ${process.platform}-${process.arch}`,
  database: checkDatabase,
  redis: checkRedis,
  objects: checkObjects,
  legacy: checkLegacy,
  identity: checkIdentity,
  resizing: checkResizing,
  embeddings: checkEmbeddings,
  video: checkVideo,
  screening: checkScreening,
};

const log = createLog({ level: 'silent' });

export async function doctor(): Promise<number> {
  let config: Config;
  try {
    config = readConfig(process.env, servicesByDefault(process.env), { keepSecrets: false });
  } catch (error) {
    if (!(error instanceof ConfigFault)) throw error;
    for (const fault of error.faults) tell('FAULT', 'configuration', `${fault}; docs/config.md has every setting`);
    return 1;
  }
  tell(
    'ok',
    'configuration',
    config.process.production ? 'production' : 'development: what is not set is embedded or made',
  );
  const outcomes = await Promise.all(Object.entries(checks).map(([name, check]) => examine(name, check, config)));
  return outcomes.every(Boolean) ? 0 : 1;
}

async function examine(name: string, check: Check, config: Config): Promise<boolean> {
  try {
    tell('ok', name, await check(config));
    return true;
  } catch (error) {
    tell(error instanceof Warning ? 'warn' : 'FAULT', name, (error as Error).message.replaceAll('\n', ' '));
    return error instanceof Warning;
  }
}

function tell(state: 'ok' | 'warn' | 'FAULT', what: string, sentence: string): void {
  console.log(`${state.padEnd(6)} ${what.padEnd(14)} ${sentence}`);
}

async function checkDatabase({ database, process: { dataDir } }: Config): Promise<string> {
  if (database.url === 'embedded') {
    await checkFolder(dataDir);
    await checkPermissions(dataDir);
    return `PGlite in ${dataDir}, ${isFolderInUse(dataDir) ? 'in use by a running instance' : 'not in use'}`;
  }
  await probePostgres(database.url);
  return 'PostgreSQL answers';
}

async function checkRedis({ redis, database }: Config): Promise<string> {
  if (redis.url === 'embedded')
    return database.url === 'embedded' ? 'in process' : 'in process, so one process per service; see REDIS_URL';
  const { version, keepsAll, survivesRestart } = await probeRedis(redis.url);
  const warnings = [
    ...(keepsAll ? [] : ['it may evict streams in flight: set maxmemory-policy noeviction']),
    ...(survivesRestart ? [] : ['streams in flight end with it: set appendonly yes']),
  ];
  return [`Redis ${version} answers`, ...warnings].join('; ');
}

async function checkEmbeddings({ embedding }: Config): Promise<string> {
  const embedder = openEmbedder(embedding);
  try {
    await embedder.embed(['Is anybody there?']);
    return embedding.baseUrl === 'builtin' ? 'the built-in embedder' : `${embedder.name} answers`;
  } catch (error) {
    throw new Error(
      `the embedding server does not answer as it should (${reason(error as Error)}); see EMBEDDING_BASE_URL, EMBEDDING_API_KEY, EMBEDDING_MODEL and EMBEDDING_DIMENSIONS`,
    );
  } finally {
    await embedder.close();
  }
}

async function checkObjects({ objects, process: { dataDir } }: Config): Promise<string> {
  // As in production: a missing bucket is named, not made.
  const opened = await openObjects({ settings: objects, production: true, dataDir, clock: systemClock, log });
  try {
    if (opened.driver === 'files') {
      await checkFolder(dataDir);
      return describeFiles(dataDir);
    }
    await Promise.all([opened.originals.check(), opened.publicObjects.check()]).catch((error: Error) => {
      throw new Error(`the S3 server does not answer (${reason(error)}); see S3_ENDPOINT, S3_BUCKET and the keys`);
    });
    const createOnly = await opened.probeCreateOnly();
    return createOnly === 'honoured'
      ? 'the S3 server answers and can create only'
      : 'the S3 server answers; it cannot create only, so a signed PUT may overwrite within its 300 seconds';
  } finally {
    await opened.close();
  }
}

/** How they compare with their rows, as the media service noted it (docs/objects.md). */
async function describeFiles(dataDir: string): Promise<string> {
  const files = `files in ${dataDir}`;
  const folder = await readFolder(dataDir);
  if (folder === undefined) return files;
  const { isCopy, state } = folder;
  if (isCopy) return `${files}, a copy: the next start compares it with the database`;
  const { missing, different, unreadable } = state;
  if (missing + different + unreadable > 0) {
    const counts = `${missing} missing, ${different} with other content, ${unreadable} unreadable`;
    const mend = 'the log of the media service names them; restore them from a backup, or see `npm run sweep`';
    throw new Warning(`${files}: some are not those of the database (${counts}); ${mend}`);
  }
  return state.reconciled ? files : `${files}, which are being compared with the database`;
}

async function checkLegacy(config: Config): Promise<string> {
  const { dataDir } = config.process;
  const legacy = openLegacyObjects({ settings: legacyOf(config), ownBuckets: [], dataDir, clock: systemClock });
  try {
    if (legacy.driver === 'off') return 'off: legacy refs resolve to nothing';
    if (legacy.driver === 'files') {
      await checkFolder(join(dataDir, 'legacy'));
      return `files in ${join(dataDir, 'legacy')}, a folder per bucket`;
    }
    await legacy.check().catch((error: Error) => {
      throw new Error(`the S3 server does not answer (${reason(error)}); see LEGACY_S3_ENDPOINT and its keys`);
    });
    return 'the S3 server answers';
  } finally {
    await legacy.close();
  }
}

async function checkIdentity(config: Config): Promise<string> {
  if (config.identity.url === undefined) return 'the local stand-in, which npm start starts';
  const url = config.identity.jwksUrl ?? `${addressesOf(config).idp}/auth/v1/.well-known/jwks.json`;
  const answer = await reach(url, 'see IDP_URL or JWKS_URL');
  const body = (await answer.json().catch(() => undefined)) as { keys?: unknown } | undefined;
  if (!answer.ok || !Array.isArray(body?.keys))
    throw new Error(`${url} gives no key set (status ${answer.status}); see IDP_URL or JWKS_URL`);
  return `${body.keys.length} token keys at ${url}`;
}

async function checkResizing({ resizing }: Config): Promise<string> {
  if (resizing.proxyUrl === undefined) return 'the edge';
  const answer = await reach(`${resizing.proxyUrl}/health`, 'see IMGPROXY_URL');
  if (!answer.ok) throw new Error(`${resizing.proxyUrl}/health answers ${answer.status}; see IMGPROXY_URL`);
  return `imgproxy at ${resizing.proxyUrl}`;
}

/** Everything else works without it. */
async function checkVideo({ media }: Config): Promise<string> {
  await createFfmpeg(media.ffmpegPath)
    .check()
    .catch(() => {
      const what = 'video tasks and video watermarks answer 503';
      throw new Warning(`no ffmpeg and ffprobe at ${media.ffmpegPath}: ${what}; install ffmpeg, or see FFMPEG_PATH`);
    });
  return `ffmpeg at ${media.ffmpegPath}`;
}

/** The lists are read as a picture would have them read; the classifier is not asked, as it would judge what it is sent. */
async function checkScreening({ media }: Config): Promise<string> {
  const { blockedHashes, screeningUrl } = media;
  const classifier = screeningUrl === undefined ? 'no classifier' : 'a classifier, which was not asked';
  if (blockedHashes === undefined) return `no lists (MEDIA_BLOCKED_HASHES is not set), ${classifier}`;
  const screening = createScreening({ blockedHashes, screeningUrl: undefined });
  try {
    await screening.checkLists();
    return `the lists in ${blockedHashes} can be read, ${classifier}`;
  } catch (error) {
    throw new Error(`the lists cannot be relied on (${reason(error as Error)}); see MEDIA_BLOCKED_HASHES`);
  } finally {
    await screening.close();
  }
}

async function reach(url: string, mend: string): Promise<Response> {
  return fetch(url, { signal: AbortSignal.timeout(5000), redirect: 'manual' }).catch((error: Error) => {
    throw new Error(`${url} does not answer (${reason(error)}); ${mend}`);
  });
}

/** Writable, or to be made where that is possible. */
async function checkFolder(folder: string): Promise<void> {
  for (let path = folder; ; path = dirname(path)) {
    try {
      await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT' && path !== dirname(path)) continue;
      throw new Error(`${path} cannot be written to; let ATELIER_DATA_DIR name a folder that can`);
    }
  }
}

async function checkPermissions(dataDir: string): Promise<void> {
  const { mode = 0 } = await stat(dataDir).catch(() => ({ mode: 0 }));
  if ((mode & 0o077) === 0) return;
  const found = (mode & 0o777).toString(8).padStart(4, '0');
  throw new Warning(`${dataDir} is accessible to other accounts (${found}); a start sets 0700, or run chmod 700`);
}

function reason(error: Error): string {
  const { cause } = error;
  return cause instanceof Error ? cause.message || String((cause as NodeJS.ErrnoException).code) : error.message;
}
