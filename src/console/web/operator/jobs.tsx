/** Queues, and what became of their jobs. */
import { useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'wouter';
import type { QueueList } from '../../jobs/api.ts';
import { callJson } from '../calls.ts';
import { countOf, sinceThen } from '../parts/figures.tsx';
import { Empty, Failure, Loading } from '../parts/states.tsx';
import { QueueJobs } from './queuejobs.tsx';
import './operator.css';

type QueueState = QueueList['queues'][number];
const states = ['waiting', 'scheduled', 'running', 'dead'] as const;
const labels = { waiting: 'Waiting', scheduled: 'Scheduled', running: 'Running', dead: 'Dead' };

export function Jobs() {
  const [search, setSearch] = useSearchParams();
  const { data, error, refetch } = useQuery({
    queryKey: ['queues'],
    queryFn: () => callJson<QueueList>('/api/queues'),
    refetchInterval: 5000,
  });
  const chosen = search.get('queue') ?? undefined;
  const first = data?.queues.find(({ dead }) => dead > 0)?.queue ?? data?.queues[0]?.queue;
  const opened = chosen ?? first;
  if (data === undefined)
    return error ? <Failure error={error} retry={refetch} /> : <Loading what="Reading the queues" />;
  const countsOf = (queue: string): QueueState =>
    data.queues.find((one) => one.queue === queue) ?? {
      queue,
      waiting: 0,
      scheduled: 0,
      running: 0,
      dead: 0,
      oldestDueAt: null,
    };
  const show = (count: number) => (count > data.largestCount ? `${countOf(data.largestCount)}+` : countOf(count));
  return (
    <div className="operator">
      <header className="page">
        <h1>Jobs</h1>
        <p className="quiet">A job that fails is retried with growing pauses, and is dead after its last attempt.</p>
      </header>
      {data.queues.length === 0 && <Empty title="No queue has unfinished or dead jobs." />}
      {data.queues.length > 0 && (
        <table className="queues">
          <thead>
            <tr>
              <th scope="col">Queue</th>
              {states.map((state) => (
                <th key={state} scope="col">
                  {labels[state]}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {data.queues.map((queue) => (
              <tr key={queue.queue}>
                <th scope="row">
                  <button
                    type="button"
                    className="entry"
                    aria-pressed={queue.queue === opened}
                    onClick={() => setSearch({ queue: queue.queue })}
                  >
                    {queue.queue}
                    {queue.oldestDueAt !== null && isLate(queue.oldestDueAt) && (
                      <span className="problem">The first job was due {sinceThen(queue.oldestDueAt)}.</span>
                    )}
                  </button>
                </th>
                {states.map((state) => (
                  <td key={state} className={state === 'dead' && queue.dead > 0 ? 'problem' : undefined}>
                    {show(queue[state])}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {opened !== undefined && <QueueJobs key={opened} queue={countsOf(opened)} show={show} />}
    </div>
  );
}

const isLate = (dueAt: string) => Date.now() - Date.parse(dueAt) > 5 * 60_000;
