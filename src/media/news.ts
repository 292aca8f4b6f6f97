/**
 * Sends `library.changed` to the other devices of an owner, through `GET /events` of the agent service. The event is a hint to
 * read again: it is sent after the change, does not delay it, and may be lost.
 */
import type { Caller } from '#platform/access/caller.ts';
import type { ActingClient } from '#platform/http/client.ts';
import type { Log } from '#platform/log.ts';

export type LibraryNews = ReturnType<typeof createLibraryNews>;

/** Many changes at once, such as uploads, become one event. */
const pauseMs = 300;
const mostOwners = 10_000;

export function createLibraryNews(agent: ActingClient, log: Pick<Log, 'debug'>) {
  /** The owners that are being sent an event, and whether their library has changed since. */
  const sending = new Map<string, boolean>();
  async function send(ownerId: string): Promise<void> {
    const json = { userId: ownerId, type: 'library.changed' };
    try {
      await agent.send({ method: 'POST', route: '/events', json, onBehalfOf: null });
    } catch (error) {
      log.debug({ err: error }, 'the change of a library was not announced');
    }
    setTimeout(() => {
      const again = sending.get(ownerId) === true;
      sending.delete(ownerId);
      if (again) changed(ownerId);
    }, pauseMs).unref();
  }
  function changed(ownerId: string): void {
    if (sending.has(ownerId)) sending.set(ownerId, true);
    else if (sending.size < mostOwners) {
      sending.set(ownerId, false);
      void send(ownerId);
    }
  }
  /** For what servers also do for users and report themselves, such as registrations of runs: only what the user did. */
  function changedBy(caller: Caller): void {
    if (caller.kind === 'user' && !caller.isOnBehalf) changed(caller.userId);
  }
  return { changed, changedBy };
}
