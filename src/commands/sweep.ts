/**
 * `npm run sweep [-- --apply]`: finds what nobody needs any more (docs/media.md, "What is left over"), one line each; removes
 * it only with `--apply`. Exit code 1 when not all could be looked at or removed. May be broken off and repeated.
 */

import { type Config, isAlone, readConfig, secretsOf } from '#app/config.ts';
import { createEngines } from '#app/engines.ts';
import { standInFor } from '#app/servicelease.ts';
import { sweeperOf } from '#media/service.ts';
import { type SweepFinding, type Swept, sweepRequest } from '#media/sweeping/api.ts';
import { audited, auditOf } from '#platform/audit/audit.ts';
import { openCache } from '#platform/cache/open.ts';
import { systemClock as clock } from '#platform/clock.ts';
import { Closers, StartFault } from '#platform/lifecycle.ts';
import { createLog } from '#platform/log.ts';
import { Problem } from '#platform/problem.ts';
import { clientOfInstance, isEmbeddedInUse } from './instance.ts';
import { usageOf } from './usage.ts';

/** One page; throws a Problem, or whatever else is in the way. */
type Sweep = (request: { readonly apply: boolean; readonly cursor: string | null }) => Promise<Swept>;

/** A thousand objects, looked for and removed. */
const timeoutMs = 120_000;

export async function sweep(args: readonly string[]): Promise<number> {
  const unknown = args.find((arg) => arg !== '--apply');
  if (unknown !== undefined) throw new StartFault(`There is no option ${unknown}. ${usageOf('sweep')}`);
  const apply = args.includes('--apply');
  const config = readConfig(process.env, ['media']);
  const closers = new Closers();
  try {
    return await sweepAll(
      isEmbeddedInUse(config) ? throughInstance(config, closers) : await open(config, closers),
      apply,
    );
  } finally {
    await closers.closeAll();
  }
}

async function sweepAll(sweepPage: Sweep, apply: boolean): Promise<number> {
  const counts = new Map<string, number>();
  let cursor: string | null = null;
  let isWhole = true;
  do {
    try {
      const page: Swept = await sweepPage({ apply, cursor });
      for (const finding of page.found) {
        console.log(lineOf(finding));
        const name = `${finding.fate} ${finding.what}`;
        counts.set(name, (counts.get(name) ?? 0) + 1);
        if (apply && finding.fate !== 'removed') isWhole = false;
      }
      cursor = page.cursor;
    } catch (error) {
      console.log(`FAULT         ${reasonOf(error)}`.replaceAll('\n', ' '));
      isWhole = false;
      cursor = null;
    }
  } while (cursor !== null);
  console.log(summaryOf(counts, apply));
  return isWhole ? 0 : 1;
}

const fates = { found: 'would remove', removed: 'removed     ', left: 'left        ' } as const;
const names = {
  unfinished_registration: ['unfinished registration', 'unfinished registrations'],
  unregistered_upload: ['unregistered upload', 'unregistered uploads'],
  watermark_without_source: ['watermark without source', 'watermarks without source'],
  asset_without_object: ['asset without object', 'assets without object'],
  variant_without_source: ['variant without source', 'variants without source'],
} as const;

function lineOf({ what, fate, key, assetId, byteSize, why }: SweepFinding): string {
  const more = [assetId, byteSize === undefined ? undefined : `${byteSize} bytes`, why].filter(Boolean).join(', ');
  return `${fates[fate]}  ${names[what][0].padEnd(24)}  ${key}${more === '' ? '' : `  (${more})`}`;
}

function summaryOf(counts: ReadonlyMap<string, number>, apply: boolean): string {
  const told = (fate: SweepFinding['fate']) =>
    Object.entries(names)
      .map(([what, [one, many]]) => ({ count: counts.get(`${fate} ${what}`) ?? 0, one, many }))
      .map(({ count, one, many }) => `${count} ${count === 1 ? one : many}`)
      .join(', ');
  const left = [...counts].filter(([name]) => name.startsWith('left ')).reduce((sum, [, count]) => sum + count, 0);
  const what = apply ? `Removed: ${told('removed')}.` : `Would be removed: ${told('found')}.`;
  const next = apply || counts.size === 0 ? '' : ' Nothing was changed; `npm run sweep -- --apply` removes them.';
  return `${what}${left === 0 ? '' : ` Left: ${left}.`}${next}`;
}

function reasonOf(error: unknown): string {
  if (error instanceof Problem) return `${error.message} (${error.code})`;
  return error instanceof Error ? error.message : String(error);
}

function throughInstance(config: Config, closers: Closers): Sweep {
  const client = clientOfInstance(config, closers, { service: 'media', timeoutMs: timeoutMs });
  return async (json) => {
    const answer = await client.send({ method: 'POST', route: '/v1/sweep', json, idempotent: true });
    const body = answer.json() as Swept & { readonly message?: string };
    if (answer.status !== 200) throw new Error(body.message ?? `the media service answered ${answer.status}`);
    return body;
  };
}

async function open(config: Config, closers: Closers): Promise<Sweep> {
  const log = createLog({ level: 'error', secrets: secretsOf(config) });
  const engines = createEngines(config, log, closers);
  const database = await engines.database();
  // What a running service keeps in its memory only it can forget.
  if (isAlone(config) && !(await standInFor('media', database, log, closers))) return throughInstance(config, closers);
  const redis = await engines.redis();
  const { originals, publicObjects } = await engines.objects();
  const sweepPage = sweeperOf({
    clock,
    database,
    answers: openCache({ redis, database, name: 'media', maxBytes: 1_000_000, log }),
    originals,
    publicObjects,
    legacy: await engines.legacy(),
    variants: await engines.variants(),
  });
  return (request) => {
    const page = () => sweepPage(sweepRequest.parse(request));
    const db = auditOf(database.queries());
    return request.apply ? audited(db, { action: 'sweep --apply', target: 'leftovers' }, page) : page();
  };
}
