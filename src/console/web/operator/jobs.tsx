/** Queues, and what became of their jobs. */
import type { QueueList, ShownQueue } from '../../jobs/api.ts';
import { countUpTo, sinceThen } from '../parts/figures.tsx';
import { useFilters } from '../parts/listing.tsx';
import { useRead } from '../parts/server.ts';
import { Empty, PageHead, Pending } from '../parts/states.tsx';
import { workOf } from './names.tsx';
import { QueueJobs } from './queuejobs.tsx';
import { QueueTable } from './queuetable.tsx';

export function Jobs() {
  const { of, change } = useFilters();
  const { data, error, refetch } = useRead<QueueList>('/api/queues', {}, { refetchInterval: 5000 });
  const first = (data?.queues.find(({ dead, failing }) => dead + failing > 0) ?? data?.queues[0])?.queue;
  const opened = of('queue') || first;
  if (data === undefined) return <Pending error={error} retry={refetch} what="Reading the queues" />;
  const queue = data.queues.find((one) => one.queue === opened);
  const show = (count: number) => countUpTo(data.largestCount, count);
  return (
    <div className="operator">
      <PageHead title="Jobs">
        A failed job is retried with increasing delays. If a retry succeeds, the job leaves this page. After the last
        attempt, it is dead.
      </PageHead>
      {data.queues.length === 0 && (
        <Empty title="No queue has unfinished or dead jobs.">
          <p>Jobs that ended well are removed. Waiting, failing and dead ones appear here.</p>
        </Empty>
      )}
      {data.queues.length > 0 && (
        <QueueTable
          of={data.queues}
          states={['waiting', 'failing', 'scheduled', 'running', 'dead']}
          largestCount={data.largestCount}
          head={(one) => (
            <QueueName
              queue={one}
              isOpen={one === queue}
              open={() => change({ queue: one.queue, state: '', q: '' }, false)}
            />
          )}
        />
      )}
      {opened !== undefined && <QueueJobs key={opened} name={opened} queue={queue} show={show} />}
    </div>
  );
}

type QueueNameProps = { readonly queue: ShownQueue; readonly isOpen: boolean; readonly open: () => void };

function QueueName({ queue: { queue, oldestDueAt }, isOpen, open }: QueueNameProps) {
  return (
    <button type="button" className="entry" aria-pressed={isOpen} onClick={open}>
      <span>{workOf(queue)}</span>
      {workOf(queue) !== queue && <span className="quiet">{queue}</span>}
      {oldestDueAt !== null && isLate(oldestDueAt) && (
        <span className="problem">The first job became due {sinceThen(oldestDueAt)}.</span>
      )}
    </button>
  );
}

const isLate = (dueAt: string) => Date.now() - Date.parse(dueAt) > 5 * 60_000;
