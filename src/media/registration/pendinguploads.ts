/**
 * `POST /v1/uploads/sign-pending`: reads an upload that is not registered yet
 * (docs/specification/media.md#pending-uploads). Needs the store and no database.
 */
import { problems } from '#platform/problem.ts';
import type { PendingObject, PendingRequest } from '../api.ts';
import { storageKeyOf } from '../assets/storagekey.ts';
import type { MediaContext } from '../context.ts';

/** Throws 404 when there is no object under the storage key of the request. */
export async function signPending(deps: MediaContext, request: PendingRequest): Promise<PendingObject> {
  const { mime, expiresIn } = request;
  const storageKey = storageKeyOf(request);
  const head = await deps.objects.head(storageKey);
  if (head === undefined) throw problems.not_found({ message: 'There is no uploaded object.' });
  const url = deps.objects.readAddress(storageKey, { expiresInS: expiresIn, contentType: mime });
  return { url, byteSize: head.size };
}
