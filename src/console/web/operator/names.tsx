/** Names of people, conversations, models and queues, wherever a service returns ids. */
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Names } from '#accounts/people/api.ts';
import type { ConfiguredModels } from '#agent/operatorapi.ts';
import type { Titles } from '#agent/records/api.ts';
import { callJson } from '../calls.ts';
import { useRead } from '../parts/reading.ts';

const gatherMs = 20;
const most = 100;

/** Ids that appear at the same time are read together. */
function gathering(read: (ids: string) => Promise<Readonly<Record<string, string | null>>>) {
  const waiting = new Map<string, PromiseWithResolvers<string | null>>();
  const readWaiting = () => {
    const all = [...waiting];
    waiting.clear();
    for (let from = 0; from < all.length; from += most) {
      const some = all.slice(from, from + most);
      read(some.map(([id]) => id).join(',')).then(
        (names) => some.forEach(([id, { resolve }]) => void resolve(names[id] ?? null)),
        (error: unknown) => some.forEach(([, { reject }]) => void reject(error)),
      );
    }
  };
  return (id: string): Promise<string | null> => {
    const known = waiting.get(id);
    if (known !== undefined) return known.promise;
    const promised = Promise.withResolvers<string | null>();
    if (waiting.size === 0) setTimeout(readWaiting, gatherMs);
    waiting.set(id, promised);
    return promised.promise;
  };
}

const readName = gathering(async (ids) => (await callJson<Names>(`/api/people/names?ids=${ids}`)).names);
const readTitle = gathering(async (ids) => (await callJson<Titles>(`/api/threads/titles?ids=${ids}`)).titles);

/** `undefined`: not read yet. `null`: there is none. */
function useGathered(kind: string, id: string, read: (id: string) => Promise<string | null>) {
  const { data } = useQuery({ queryKey: [kind, id], queryFn: () => read(id), staleTime: 300_000, retry: false });
  return data;
}

const useName = (id: string): string => useGathered('name', id.toLowerCase(), readName) ?? `User ${id.slice(0, 8)}`;

export function PersonLink({ id }: { readonly id: string }) {
  const name = useName(id);
  return (
    <Link href={`/operator/people/${id}`} className="person-link" title={id}>
      {name}
    </Link>
  );
}

/** An entity of the memory service, by name if it is a user. */
export function EntityName({ type, id }: { readonly type: string; readonly id: string }) {
  return type === 'user' && isId.test(id) ? <PersonName id={id} /> : `${type} ${id}`;
}

const isId = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const PersonName = ({ id }: { readonly id: string }) => <span title={id}>{useName(id)}</span>;

/** The first words of a conversation, or its title. */
export function useThreadTitle(threadId: string): string {
  const title = useGathered('thread title', threadId, readTitle);
  return title === undefined ? '…' : title || 'A deleted or temporary conversation';
}

export const useModels = () => useRead<ConfiguredModels>(['models'], '/api/models', { staleTime: 300_000 });

/** The labels of models. A model that is no longer configured is named by its id. */
export function useModelNames(): (id: string) => string {
  const { data } = useModels();
  const all = [...(data?.models ?? []), ...(data?.media ?? [])];
  return (id) => all.find((one) => one.id === id)?.label ?? id;
}

export function RequestId({ id, traceUrl }: { readonly id: string | null; readonly traceUrl: string | null }) {
  return (
    <>
      {id !== null && 'Request id '}
      {id !== null && <code className="wrapped">{id}</code>}
      {traceUrl !== null && ' · '}
      {traceUrl !== null && (
        <a href={traceUrl} target="_blank" rel="noreferrer">
          Trace
        </a>
      )}
    </>
  );
}

/** What the jobs of each queue do. A queue without a name is shown as it is. */
const works: Readonly<Record<string, string>> = {
  'agent/budget-mail': 'Send the alert of a budget',
  'agent/cancel-order': 'Cancel an order at its provider',
  'agent/clear-deleted-thread': 'Clean up after a deleted conversation',
  'agent/delete-threads': 'Delete conversations',
  'agent/deliver-video': 'Download a finished video',
  'agent/extract-memories': 'Find what to remember',
  'agent/make-images': 'Make images',
  'agent/make-title': 'Give a conversation its title',
  'agent/make-video': 'Make a video',
  'auth/delete-account': 'Delete an account',
  'auth/export-account': 'Export an account',
  'auth/revoke': 'Confirm a sign-out at the identity provider',
  'media/decision-mail': 'Send a decision about reported content',
  'media/decisions': 'Remove or hide reported content',
  'media/long-videos': 'Convert a long video',
  'media/rescreen': 'Screen all assets again',
  'media/sweep': 'Remove objects that nothing refers to',
  'media/watermark-long-video': 'Put a watermark on a long video',
  'media/watermark-video': 'Put a watermark on a video',
  'memory/judge': 'Compare new memories with known ones',
  'notify/send': 'Send an email',
  'notify/send-later': 'Send an email again, or later',
  'video-upload-service': 'Convert an uploaded video',
  'webhooks/deliver': 'Deliver a webhook',
};

export const workOf = (queue: string): string => works[queue] ?? queue;
