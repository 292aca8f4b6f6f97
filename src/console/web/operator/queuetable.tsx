/** The number of jobs in each queue and state. */
import type { ReactNode } from 'react';
import type { QueueList } from '../../jobs/api.ts';
import { countUpTo } from '../parts/figures.tsx';

const labels = { waiting: 'Waiting', failing: 'Failing', scheduled: 'Planned', running: 'Running', dead: 'Dead' };
export type QueueState = QueueList['queues'][number];

interface QueueTableProps {
  readonly of: readonly QueueState[];
  readonly states: readonly (keyof typeof labels)[];
  /** Counts end one above it. */
  readonly largestCount: number;
  /** Names a queue in its row. */
  readonly head: (queue: QueueState) => ReactNode;
}

export function QueueTable({ of, states, largestCount, head }: QueueTableProps) {
  return (
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
        {of.map((queue) => (
          <tr key={queue.queue}>
            <th scope="row">{head(queue)}</th>
            {states.map((state) => (
              <td
                key={state}
                data-label={labels[state]}
                className={/dead|failing/.test(state) && queue[state] > 0 ? 'problem' : undefined}
              >
                {countUpTo(largestCount, queue[state])}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
