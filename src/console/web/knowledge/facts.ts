/** What the memory service knows about the signed-in user, through the endpoints that users may call. */
import { keepPreviousData } from '@tanstack/react-query';
import type { EntityState, Injection, Memories, Memory, SearchResult } from '../../../client/memory/api.ts';
import type { Call } from '../calls.ts';
import { notify, notifyFailure } from '../shell/notices.ts';
import { product } from '../shell/product.ts';
import { type User, useOwn, useOwnPages, useReread, useUser } from '../user.tsx';

/** Of what is known about the user. */
export const ownerOf = ({ id }: User) => ({ entity_id: id, entity_type: 'user' });

export const groups: readonly { readonly type: Memory['type']; readonly title: string; readonly about: string }[] = [
  { type: 'preference', title: 'Preferences', about: 'What you like and what you are like.' },
  { type: 'instruction', title: 'Instructions', about: `How ${product} should work for you.` },
  { type: 'workflow', title: 'Ways of working', about: 'How you usually do things.' },
  { type: 'episodic', title: 'Events', about: 'What happened.' },
];

// Conversations change what is known.
const fresh = { staleTime: 0 };

/** Newest first, page by page. */
export const useMemories = () =>
  useOwnPages<Memories>(['knowledge', 'memories'], 'memory', '/memories', { limit: '100' }, fresh);

/** What it takes to store a fact again. */
export type Known = Pick<Memory, 'id' | 'content' | 'type' | 'metadata'> & Partial<Pick<Memory, 'thread_id'>>;

/** Forgets a fact, and offers to undo it. A failure is only shown. */
export function useForgetting(): (fact: Known) => Promise<unknown> {
  const user = useUser();
  const reread = useReread();
  const send = (path: string, call: Call) => user.send('memory', path, call).finally(() => reread('knowledge'));
  return ({ id, content, type, thread_id, metadata }) =>
    send(`/memory/${id}`, { method: 'DELETE' }).then(() => {
      const json = { ...ownerOf(user), content, type, thread_id, metadata };
      const undo = () => void send('/memory/add', { method: 'POST', json }).catch(notifyFailure);
      notify(`Forgot “${content}”.`, { undo });
    }, notifyFailure);
}

/** By words and by meaning, in the whole memory. A blank search is not sent. */
export const useSearch = (query: string) =>
  useOwn<SearchResult>(['knowledge', 'search', query], 'memory', '/memory/search', {
    question: { ...ownerOf(useUser()), query, limit: 50 },
    enabled: query !== '',
    placeholderData: keepPreviousData,
    ...fresh,
  });

/** Facts from the memories, such as the name. An empty query returns no memories. */
export function useProfile() {
  const question = { ...ownerOf(useUser()), query: '' };
  return useOwn<Injection>(['knowledge', 'profile'], 'memory', '/inject', { question, ...fresh });
}

const statePath = ({ id }: User) => `/entities/user/${id}`;

/** When the user has paused the memory; `null`: it is in use. */
export const usePause = () => useOwn<EntityState>(['knowledge', 'pause'], 'memory', statePath(useUser()), fresh);

/** Begins or ends the pause. */
export const pause = (user: User, paused: boolean) =>
  user.json<EntityState>('memory', statePath(user), { method: 'PATCH', json: { paused } });
