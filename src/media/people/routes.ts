/** Erases an owner (docs/specification/media.md#people), for operators. */
import { z } from 'zod';
import type { Access } from '#platform/access/access.ts';
import { auditOperators, userTarget } from '#platform/audit/http.ts';
import { routesOf } from '#platform/http/routes.ts';
import type { HttpServer } from '#platform/http/server.ts';
import { scopeDeletion } from '../api.ts';
import { dropCollectionsOf } from '../collections/collectionstore.ts';
import type { MediaContext } from '../context.ts';
import { removeListed, rowsPerBatch } from '../deletion/removal.ts';
import { settleReservationsOf } from '../quota/reservationstore.ts';
import { forgetReporter } from '../reports/reportstore.ts';
import { deleteScope } from '../scopes/scopedeletion.ts';
import { dropSharesOfOwner } from '../shares/sharestore.ts';
import { pageOf } from '../sweeping/page.ts';
import { expireReservations } from '../sweeping/reservations.ts';
import { forgetOwner } from './peoplestore.ts';

const params = z.object({ userId: z.guid().toLowerCase() });
export const erasedOwner = z.object({
  removed: z.record(z.string(), z.int()).describe('The number of removed records of each kind.'),
});
const path = '/v1/people/:userId';

export function addPeopleRoutes(app: HttpServer, access: Access, deps: MediaContext): void {
  const routes = routesOf(app, 'people');
  auditOperators(app, {
    ...deps,
    isOperators: (url) => url === path,
    targetOf: (request) => userTarget(params, request.params),
  });
  routes.delete('/v1/people/:userId', access.internalOnly, {
    id: 'eraseOwner',
    summary: 'Erase the assets, files and tasks of an owner',
    description: 'Erases the assets, files and tasks of an owner. After 503, you can repeat the request.',
    params,
    response: { 200: erasedOwner },
    handler: async (request) => eraseOwner(deps, request.params.userId),
  });
}

/** Throws `engine_unavailable`, after which the call can be repeated. */
async function eraseOwner(deps: MediaContext, ownerId: string): Promise<z.output<typeof erasedOwner>> {
  const legacyPrefixes = [`${ownerId}/`, `feed/${ownerId}/`, `avatars/${ownerId}/`];
  const request = scopeDeletion.parse({ ownerId, legacyPrefixes });
  const { dbDeleted, r2Deleted, legacyDeleted } = await deleteScope(deps, { kind: 'internal' }, request);
  const prefix = `u/${ownerId}/`;
  await deps.objects.resumable.sealBelow(prefix);
  const uploads = await removeUploads(deps, prefix);
  await settleReservationsOf(deps.db, ownerId);
  while ((await expireReservations(deps, ownerId)) > 0);
  const shares = await dropSharesOfOwner(deps.db, ownerId);
  const collections = await dropCollectionsOf(deps.db, ownerId);
  const reports = await forgetReporter(deps.db, ownerId);
  await deps.quarantine.forget(ownerId);
  const rows = await forgetOwner(deps.db, ownerId);
  return {
    removed: {
      assets: dbDeleted,
      objects: r2Deleted,
      legacy_files: legacyDeleted,
      uploads,
      shares,
      collections,
      reports,
      ...rows,
    },
  };
}

/** Removes objects that were uploaded and not registered, and returns their number. Throws `engine_unavailable`. */
async function removeUploads({ objects }: MediaContext, prefix: string): Promise<number> {
  let removed = 0;
  for (;;) {
    const page = await pageOf(objects.list(prefix), rowsPerBatch);
    if (page.length === 0) return removed;
    await removeListed(objects, page);
    removed += page.length;
  }
}
