/** The number of jobs in each queue and state. */
import type { ReactNode } from 'react';
import type { ShownQueue } from '../../jobs/api.ts';
import { countUpTo } from '../parts/figures.tsx';
import { Table } from '../parts/tables.tsx';

const labels = { waiting: 'Waiting', failing: 'Failing', scheduled: 'Planned', running: 'Running', dead: 'Dead' };

interface QueueTableProps {
  readonly of: readonly ShownQueue[];
  readonly states: readonly (keyof typeof labels)[];
  /** Counts end one above it. */
  readonly largestCount: number;
  /** Names a queue in its row. */
  readonly head: (queue: ShownQueue) => ReactNode;
}

export const QueueTable = ({ of, states, largestCount, head }: QueueTableProps) => (
  <div className="queues">
    <Table
      head={['Queue', ...states.map((state) => labels[state])]}
      rows={of.map((queue) => ({
        key: queue.queue,
        cells: [
          head(queue),
          ...states.map((state) => (
            <span key={state} className={/dead|failing/.test(state) && queue[state] > 0 ? 'problem' : undefined}>
              {countUpTo(largestCount, queue[state])}
            </span>
          )),
        ],
      }))}
    />
  </div>
);
