/**
 * One process per service where PostgreSQL is shared and Redis is not (docs/specification/system.md#processes): what a process keeps in memory is
 * right only while nobody else changes what it stands for. A second process of a service is refused at its start. One that
 * loses its lease, as the database did not answer for long or it was itself suspended, answers 503 until it has it again,
 * and then begins with empty caches.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '#platform/db/db.ts';
import { createLeases, type Leases, type LeasesDeps, type LeaseTables } from '#platform/db/lease.ts';
import { type Closers, StartFault } from '#platform/lifecycle.ts';
import type { Log } from '#platform/log.ts';

export interface ServiceLease {
  isHeld(): boolean;
  /** Called when it is held again: somebody else may have changed anything meanwhile. */
  onReturn(listener: () => Promise<void>): void;
}

const askAgainEveryMs = 1000;

/** Throws StartFault when one of `services` runs elsewhere; a dead process is waited for, 15 s at most. */
export async function acquireServiceLeases<Service extends string>(
  services: readonly Service[],
  database: Database,
  log: Log,
  closers: Closers,
  times: Pick<LeasesDeps, 'ttlMs' | 'renewEveryMs'> = {},
): Promise<ReadonlyMap<Service, ServiceLease>> {
  const leases = createLeases({ db: database.queries<LeaseTables>(), log, ...times });
  const closing = new AbortController();
  closers.add('leases', async () => {
    closing.abort();
    await leases.close();
  });
  const taken = await Promise.all(
    services.map(async (service) => [service, await acquireServiceLease(service, leases, closing.signal)] as const),
  );
  return new Map(taken);
}

const leaseOf = (service: string) => `service/${service}`;

/**
 * For a command that does what the service does: while it has the lease no process of the service can start. `false`: one
 * runs, which has to be asked instead, as its caches are its own.
 */
export async function standInFor(service: string, database: Database, log: Log, closers: Closers): Promise<boolean> {
  const leases = createLeases({ db: database.queries<LeaseTables>(), log });
  closers.add('leases', () => leases.close());
  return (await leases.acquireFromDead(leaseOf(service))) !== undefined;
}

async function acquireServiceLease(service: string, leases: Leases, closing: AbortSignal): Promise<ServiceLease> {
  const name = leaseOf(service);
  const first = await leases.acquireFromDead(name);
  if (first === undefined)
    throw new StartFault(
      `REDIS_URL: another process runs ${service} on this database; without Redis one process per service may.`,
    );
  const listeners: (() => Promise<void>)[] = [];
  let isHeld = true;

  function watch(signal: AbortSignal): void {
    signal.addEventListener('abort', () => {
      isHeld = false;
      void regain();
    });
  }

  async function regain(): Promise<void> {
    while (!closing.aborted) {
      const lease = await leases.acquire(name).catch(() => undefined);
      if (lease !== undefined) {
        for (const listener of listeners) await listener();
        watch(lease.signal);
        isHeld = !lease.signal.aborted;
        return;
      }
      await sleep(askAgainEveryMs, undefined, { signal: closing, ref: false }).catch(() => undefined);
    }
  }

  watch(first.signal);
  return { isHeld: () => isHeld, onReturn: (listener) => void listeners.push(listener) };
}
