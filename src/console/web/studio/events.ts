/** The user's events keep the pages current: threads and their titles, runs of other tabs, media, credits. */
import { type QueryClient, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { sleep } from '../../../client/pausing.ts';
import { followEvents, type UserEvent } from '../../../client/userevents.ts';
import { type User, useUser } from '../user.tsx';

type News = Pick<UserEvent, 'type'> & { readonly threadId?: string | undefined };

const channelName = 'atelier.events';
const betweenAttemptsMs = 10_000;

/** A browser opens few connections to one server, so one tab listens and passes the events to the others. */
export function useUserEvents(): void {
  const user = useUser();
  const queries = useQueryClient();
  useEffect(() => {
    const leaving = new AbortController();
    const channel = new BroadcastChannel(`${channelName}.${user.id}`);
    channel.onmessage = ({ data }: MessageEvent<News>) => apply(queries, user, data);
    const listen = async () => {
      for await (const event of readForever(user, leaving.signal)) {
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

function apply(queries: QueryClient, user: User, { type, threadId }: News): void {
  const reread = (...queryKey: readonly string[]) => void queries.invalidateQueries({ queryKey });
  if (type === 'credits.changed') reread('credits', user.id);
  if (threadId !== undefined && type !== 'thread.updated') reread('thread', user.id, threadId);
  if (type.startsWith('thread.') || type.startsWith('run.')) reread('threads', user.id);
  if (type === 'media.completed' || type === 'generation.completed') reread('assets');
}
