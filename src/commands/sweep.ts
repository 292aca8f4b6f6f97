/**
 * `npm run sweep [-- --apply]`: lists objects and rows that are no longer needed (docs/media.md#unused-objects-and-rows), one line each,
 * and removes them only with `--apply`. The exit code is 1 if any could not be checked or removed. It can be interrupted and repeated.
 */

import { type Config, readConfig } from '#app/config.ts';
import { sweeperOf } from '#media/service.ts';
import { type SweepFinding, type Swept, sweepRequest } from '#media/sweeping/api.ts';
import { audited, auditOf } from '#platform/audit/audit.ts';
import { Closers } from '#platform/lifecycle.ts';
import { serviceOfInstance } from './instance.ts';
import { createMediaStores, reasonOf } from './mediastores.ts';
import { readArguments } from './usage.ts';

/** Sweeps one page. Throws a Problem, or any other error. */
type Sweep = (request: Wished & { readonly cursor: string | null }) => Promise<Swept>;

interface Wished {
  readonly apply: boolean;
  readonly acceptLostBuckets: boolean;
}

/** Time limit for finding and removing a thousand objects. */
const timeoutMs = 120_000;

export async function sweep(args: readonly string[]): Promise<number> {
  const options = {
    apply: { type: 'boolean', default: false },
    'accept-lost-buckets': { type: 'boolean', default: false },
  } as const;
  const { values } = readArguments('sweep', args, { most: 0, options });
  const wished = { apply: values.apply, acceptLostBuckets: values['accept-lost-buckets'] };
  const config = readConfig(process.env, ['media']);
  const closers = new Closers();
  try {
    return await sweepAll(await open(config, closers), wished);
  } finally {
    await closers.closeAll();
  }
}

async function sweepAll(sweepPage: Sweep, wished: Wished): Promise<number> {
  const { apply } = wished;
  const counts = new Map<string, number>();
  let cursor: string | null = null;
  let isWhole = true;
  do {
    try {
      const page: Swept = await sweepPage({ ...wished, cursor });
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
  unfinished_upload: ['unfinished upload', 'unfinished uploads'],
  watermark_without_source: ['watermark without source', 'watermarks without source'],
  rendition_without_source: ['rendition without source', 'renditions without source'],
  asset_without_object: ['asset without object', 'assets without object'],
  asset_with_other_bytes: ['asset with other bytes', 'assets with other bytes'],
  variant_without_source: ['variant without source', 'variants without source'],
  evidence_without_incident: ['evidence without incident', 'evidence without incident'],
  expired_trash: ['asset whose time in the trash is over', 'assets whose time in the trash is over'],
} as const;

function lineOf({ what, fate, key, assetId, byteSize, why }: SweepFinding): string {
  const more = [assetId, byteSize === undefined ? undefined : `${byteSize} bytes`, why].filter(Boolean).join(', ');
  return `${fates[fate]}  ${names[what][0].padEnd(24)}  ${key}${more === '' ? '' : `  (${more})`}`;
}

function summaryOf(counts: ReadonlyMap<string, number>, apply: boolean): string {
  const describe = (fate: SweepFinding['fate']) =>
    Object.entries(names)
      .map(([what, [one, many]]) => ({ count: counts.get(`${fate} ${what}`) ?? 0, one, many }))
      .map(({ count, one, many }) => `${count} ${count === 1 ? one : many}`)
      .join(', ');
  const left = [...counts].filter(([name]) => name.startsWith('left ')).reduce((sum, [, count]) => sum + count, 0);
  const what = apply ? `Removed: ${describe('removed')}.` : `To be removed: ${describe('found')}.`;
  const next = apply || counts.size === 0 ? '' : ' Nothing was changed. Run `npm run sweep -- --apply` to remove them.';
  return `${what}${left === 0 ? '' : ` Not checked or removed: ${left}.`}${next}`;
}

async function open(config: Config, closers: Closers): Promise<Sweep> {
  const { mayChange, open: openStores } = createMediaStores(config, closers);
  if (!(await mayChange())) {
    const media = serviceOfInstance(config, closers, { service: 'media', timeoutMs });
    return async (json) => (await media.send<Swept>({ method: 'POST', path: '/v1/sweep', json })).body;
  }
  const stores = await openStores();
  const sweepPage = sweeperOf(stores);
  return (request) => {
    const page = () => sweepPage(sweepRequest.parse(request));
    const db = auditOf(stores.database.queries());
    return request.apply ? audited(db, { action: 'sweep --apply', target: 'leftovers' }, page) : page();
  };
}
