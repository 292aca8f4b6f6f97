/**
 * `npm run rescreen`: matches the stored digests of all assets with the current lists, and blocks what matches
 * (docs/screening.md). Can be repeated. If a running instance has the embedded database, that instance does it in a job.
 */
import { type Config, readConfig } from '#app/config.ts';
import { rescreenerOf } from '#media/service.ts';
import { audited, auditOf } from '#platform/audit/audit.ts';
import { Closers, StartFault } from '#platform/lifecycle.ts';
import { clientOfInstance, isEmbeddedInUse } from './instance.ts';
import { createMediaStores } from './mediastores.ts';
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
  const { engines, mayChange, open } = createMediaStores(config, closers);
  if (!(await mayChange())) return throughInstance(config, closers);
  const stores = await open();
  const rescreenAssets = rescreenerOf({
    ...stores,
    engine: await engines.images(),
    screening: await engines.screening(),
  });
  const db = auditOf(stores.database.queries());
  const { checked, blocked, withoutDigests } = await audited(
    db,
    { action: 'rescreen', target: 'assets' },
    rescreenAssets,
  );
  return `Checked: ${checked}. Blocked: ${blocked}. Without digests: ${withoutDigests}.`;
}
