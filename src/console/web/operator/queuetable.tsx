/** The number of jobs in each queue and state. */
import type { ReactNode } from 'react';
import { countUpTo } from '../parts/figures.tsx';

const labels = { waiting: 'Waiting', scheduled: 'Scheduled', running: 'Running', dead: 'Dead' };
type State = keyof typeof labels;

interface QueueTableProps {
  readonly names: readonly string[];
  readonly states: readonly State[];
  /** Counts end one above it. */
  readonly largestCount: number;
  /** Names a queue in its row. */
  readonly head: (name: string) => ReactNode;
  /** `undefined`: the count is unknown. */
  readonly count: (name: string, state: State) => number | undefined;
}

export function QueueTable({ names, states, largestCount, head, count }: QueueTableProps) {
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
        {names.map((name) => (
          <tr key={name}>
            <th scope="row">{head(name)}</th>
            {states.map((state) => {
              const found = count(name, state);
              return (
                <td key={state} className={state === 'dead' && found ? 'problem' : undefined}>
                  {found === undefined ? '–' : countUpTo(largestCount, found)}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
