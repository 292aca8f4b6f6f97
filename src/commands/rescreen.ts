/**
 * `npm run rescreen`: matches the stored digests of all assets with the current lists, and blocks what matches
 * (docs/screening.md). Can be repeated. If a running instance has the embedded database, that instance does it in a job.
 */
import { type Config, readConfig } from '#app/config.ts';
import { rescreenerOf } from '#media/service.ts';
import { audited, auditOf } from '#platform/audit/audit.ts';
import { Closers } from '#platform/lifecycle.ts';
import { serviceOfInstance } from './instance.ts';
import { createMediaStores } from './mediastores.ts';
import { readArguments } from './usage.ts';

const timeoutMs = 30_000;

export async function rescreen(args: readonly string[]): Promise<number> {
  readArguments('rescreen', args, { most: 0 });
  const config = readConfig(process.env, ['media']);
  const closers = new Closers();
  try {
    console.log(await rescreenAll(config, closers));
    return 0;
  } finally {
    await closers.closeAll();
  }
}

async function rescreenAll(config: Config, closers: Closers): Promise<string> {
  const { engines, mayChange, open } = createMediaStores(config, closers);
  if (!(await mayChange())) {
    const media = serviceOfInstance(config, closers, { service: 'media', timeoutMs });
    const { body } = await media.send<{ readonly jobId: string }>({ method: 'POST', path: '/v1/rescreen' });
    return `The running instance started the job ${body.jobId}. Its log contains the result.`;
  }
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
