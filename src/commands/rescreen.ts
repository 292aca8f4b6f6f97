/**
 * `npm run rescreen`: matches the stored digests of all assets with the current lists, and blocks what matches
 * (docs/screening.md). Can be repeated. If a running instance has the embedded database, that instance does it in a job.
 */
import { type Config, isAlone, readConfig, secretsOf } from '#app/config.ts';
import { createEngines } from '#app/engines.ts';
import { acquireForCommand } from '#app/servicelease.ts';
import { rescreenerOf } from '#media/service.ts';
import { audited, auditOf } from '#platform/audit/audit.ts';
import { openCache } from '#platform/cache/open.ts';
import { systemClock } from '#platform/clock.ts';
import { Closers, StartFault } from '#platform/lifecycle.ts';
import { createLog } from '#platform/log.ts';
import { clientOfInstance, isEmbeddedInUse } from './instance.ts';
import { readArguments } from './usage.ts';

const timeoutMs = 30_000;

export async function rescreen(args: readonly string[]): Promise<number> {
  readArguments('rescreen', args, { most: 0 });
  const config = readConfig(process.env, ['media']);
  const closers = new Closers();
  try {
    console.log(isEmbeddedInUse(config) ? await throughInstance(config, closers) : await alone(config, closers));
    return 0;
  } finally {
    await closers.closeAll();
  }
}

async function throughInstance(config: Config, closers: Closers): Promise<string> {
  const client = clientOfInstance(config, closers, { service: 'media', timeoutMs });
  const answer = await client.send({ method: 'POST', route: '/v1/rescreen', idempotent: true });
  const body = answer.json() as { readonly jobId?: string; readonly message?: string };
  if (answer.status !== 202) throw new StartFault(body.message ?? `the media service returned ${answer.status}`);
  return `The running instance started the job ${body.jobId}. Its log contains the result.`;
}

async function alone(config: Config, closers: Closers): Promise<string> {
  const log = createLog({ level: 'error', secrets: secretsOf(config) });
  const engines = createEngines(config, log, closers);
  const database = await engines.database();
  // Only a running service can drop what its memory caches.
  if (isAlone(config) && !(await acquireForCommand('media', database, log, closers)))
    return throughInstance(config, closers);
  const redis = await engines.redis();
  const { originals, publicObjects } = await engines.objects();
  const rescreenAssets = rescreenerOf({
    clock: systemClock,
    log,
    settings: config.media,
    database,
    signedUrls: openCache({ redis, database, name: 'media', maxBytes: 1_000_000, log }),
    originals,
    publicObjects,
    legacy: await engines.legacy(),
    variants: await engines.variants(),
    engine: await engines.images(),
    screening: await engines.screening(),
    webhooks: await engines.publisher(),
    jobs: await engines.jobs(),
  });
  const db = auditOf(database.queries());
  const { checked, blocked, withoutDigests } = await audited(
    db,
    { action: 'rescreen', target: 'assets' },
    rescreenAssets,
  );
  return `Checked: ${checked}. Blocked: ${blocked}. Without digests: ${withoutDigests}.`;
}
