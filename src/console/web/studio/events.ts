/** The user's events keep the pages current: threads and their titles, runs of other tabs, media, credits. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { sleep } from '../../../client/pausing.ts';
import { followEvents, type UserEvent } from '../../../client/userevents.ts';
import { observe } from '../calls.ts';
import { readNewest } from '../library/assets.ts';
import type { Pages } from '../library/renewing.ts';
import { type User, useUser } from '../user.tsx';

type News = Pick<UserEvent, 'type'> & { readonly threadId?: string | undefined };

const channelName = 'atelier.events';
const betweenAttemptsMs = 10_000;

/** A browser opens few connections to one server, so one tab listens and passes the events to the others. */
export function UserEvents(): null {
  const user = useUser();
  const queries = useQueryClient();
  useEffect(() => {
    const leaving = new AbortController();
    const channel = new BroadcastChannel(`${channelName}.${user.id}`);
    channel.onmessage = ({ data }: MessageEvent<News>) => apply(queries, user, data);
    const listen = async () => {
      let isOpen = false;
      const agent = observe(user.agent, (url, status) => {
        if (isOpen || status !== 200 || !url.endsWith('/events')) return;
        // What changed between the first reading of the page and the connection has no event. Later connections miss none.
        isOpen = true;
        rereadAll(queries, user);
      });
      for await (const event of readForever({ agent }, leaving.signal)) {
        const news: News = { type: event.type, threadId: 'threadId' in event ? event.threadId : undefined };
        channel.postMessage(news);
        apply(queries, user, news);
      }
    };
    navigator.locks.request(`${channelName}.${user.id}`, { signal: leaving.signal }, listen).catch((error: unknown) => {
      if (!leaving.signal.aborted) throw error;
    });
    return () => {
      leaving.abort();
      channel.close();
    };
  }, [user, queries]);
  return null;
}

export async function* readForever(user: Pick<User, 'agent'>, signal: AbortSignal): AsyncGenerator<UserEvent> {
  while (!signal.aborted) {
    try {
      yield* followEvents(user.agent, { signal });
    } catch {
      // The service is away. The pages work without events.
      await sleep(betweenAttemptsMs, signal).catch(() => undefined);
    }
  }
}

/** Of a listing with more pages, only the newest is read again. */
const mostPages = 5;

function rereadLibrary(queries: QueryClient, user: User): void {
  const all = { queryKey: ['assets', user.id] };
  const isShort = ({ state }: { readonly state: { readonly data: unknown } }) =>
    ((state.data as Pages | undefined)?.pages.length ?? 0) <= mostPages;
  void queries.invalidateQueries({ ...all, predicate: isShort });
  void readNewest(queries, user, (query) => !isShort(query)).catch(() => undefined);
}

const ofEvents: readonly unknown[] = ['credits', 'thread', 'threads', 'generations', 'albums'];

/** Reads again whatever an event would have changed. */
function rereadAll(queries: QueryClient, user: User): void {
  const isOfEvents = ({ queryKey: [name, id] }: { readonly queryKey: readonly unknown[] }) =>
    id === user.id && ofEvents.includes(name);
  void queries.invalidateQueries({ predicate: isOfEvents });
  rereadLibrary(queries, user);
}

function apply(queries: QueryClient, user: User, { type, threadId }: News): void {
  const reread = (...queryKey: readonly string[]) => void queries.invalidateQueries({ queryKey });
  if (type === 'credits.changed') reread('credits', user.id);
  if (threadId !== undefined && type !== 'thread.updated') reread('thread', user.id, threadId);
  if (type.startsWith('thread.') || type.startsWith('run.')) reread('threads', user.id);
  if (type.startsWith('generation.')) reread('generations', user.id);
  if (type === 'media.completed' || type === 'generation.completed' || type === 'library.changed')
    rereadLibrary(queries, user);
  if (type === 'library.changed') reread('albums', user.id);
}
