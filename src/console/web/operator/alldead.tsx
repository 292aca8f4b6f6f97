/** Retries all dead and failing jobs of a queue, or discards the dead ones. */
import { type QueryClient, useMutation, useQueryClient } from '@tanstack/react-query';
import type { ChangedJobs } from '../../jobs/api.ts';
import { callJson } from '../calls.ts';
import { useMayChange } from '../operator.tsx';
import { Confirm } from '../parts/confirm.tsx';
import { countOf } from '../parts/figures.tsx';
import { Problem } from '../parts/states.tsx';
import { notify } from '../shell/notices.ts';

interface AllDeadProps {
  readonly queue: string;
  readonly noun: { readonly one: string; readonly many: string };
  /** As text, such as `10,000+`. */
  readonly count: string;
  /** How many jobs wait for their next attempt, which a retry starts now. */
  readonly failing?: number;
  readonly label?: string;
  /** Reports a retry of, such as, `3 jobs`. */
  readonly report?: (what: string) => string;
}

export function AllDead({
  queue,
  noun: { one, many },
  count: dead,
  failing = 0,
  label = `Retry all dead ${many}`,
  report = (what) => `Retried ${what}`,
}: AllDeadProps) {
  const queries = useQueryClient();
  const mayChange = useMayChange();
  const change = useMutation({
    mutationFn: async (action: 'retry' | 'discard') => {
      const json = { queue, ...(action === 'retry' && { failing: failing > 0 }) };
      const { count, hasMore } = await callJson<ChangedJobs>(`/api/queues/${action}`, { method: 'POST', json });
      const what = `${countOf(count)} ${count === 1 ? one : many}`;
      const done = action === 'retry' ? report(what) : `Discarded ${what}`;
      notify(`${done}.${hasMore ? ' There are more. Repeat the action.' : ''}`);
      await refreshJobs(queries);
    },
  });
  if (!mayChange) return null;
  return (
    <div className="row start">
      <button type="button" disabled={change.isPending} onClick={() => change.mutate('retry')}>
        {label}
      </button>
      {dead !== '0' && (
        <Confirm
          label={`Discard all dead ${many}`}
          question={`Permanently discard ${dead} dead ${dead === '1' ? one : many}?`}
          onConfirm={() => change.mutateAsync('discard').catch(() => undefined)}
        />
      )}
      <Problem of={change.error} />
    </div>
  );
}

/** Reads everything again that shows jobs. */
export async function refreshJobs(queries: QueryClient): Promise<void> {
  await Promise.all(
    ['queues', 'jobs', 'webhooks', 'overview'].map((key) => queries.invalidateQueries({ queryKey: [key] })),
  );
}
