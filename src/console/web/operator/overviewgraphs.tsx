import { Link } from 'wouter';
import type { Overview } from '../../api.ts';
import type { History } from '../../history/api.ts';
import { Empty } from '../parts/states.tsx';
import { Graph, type Line, Numbers } from './graph.tsx';
import { workOf } from './names.tsx';
import { QueueTable } from './queuetable.tsx';
import { compactOf, decimalOf, timeOf } from './units.ts';

export function Runs({ history: { runs, startsAt } }: { readonly history: History }) {
  const ended: Line = { name: 'Runs', values: runs.endedPerMinute, tone: 'accent' };
  const failed: Line = { name: 'Failed', values: runs.failedPerMinute, tone: 'bad' };
  const median: Line = { name: 'First token p50', values: runs.firstTokenP50Ms, tone: 'accent' };
  const slow: Line = { name: 'First token p95', values: runs.firstTokenP95Ms, tone: 'quiet' };
  const input: Line = { name: 'Tokens in', values: runs.inputTokensPerMinute, tone: 'quiet' };
  const output: Line = { name: 'Tokens out', values: runs.outputTokensPerMinute, tone: 'accent' };
  const renamed = (line: Line, name: string): Line => ({ ...line, name });
  const show = (value: number, name: string) =>
    name.startsWith('First') ? timeOf(value) : name.startsWith('Tokens') ? compactOf(value) : decimalOf(value);
  return (
    <section aria-labelledby="runs">
      <h2 id="runs">Runs</h2>
      <div className="card three">
        <Graph
          title="Ended per minute"
          lines={[renamed(ended, 'all'), renamed(failed, 'failed')]}
          startsAt={startsAt}
          show={decimalOf}
        />
        <Graph
          title="First token"
          lines={[renamed(median, 'p50'), renamed(slow, 'p95')]}
          startsAt={startsAt}
          show={timeOf}
        />
        <Graph
          title="Tokens per minute"
          lines={[renamed(input, 'in'), renamed(output, 'out')]}
          startsAt={startsAt}
          show={compactOf}
        />
        <Numbers
          label="Runs, time to first token, and tokens"
          lines={[ended, failed, median, slow, input, output]}
          startsAt={startsAt}
          show={show}
        />
      </div>
    </section>
  );
}

export function Queues({ of: { queues, largestCount } }: { readonly of: Overview }) {
  if (queues === null) return <Empty title="Queue depths are unavailable." />;
  return (
    <>
      {queues.length > 0 && (
        <QueueTable
          of={queues}
          states={['waiting', 'failing', 'running', 'dead']}
          largestCount={largestCount}
          head={({ queue }) => <Link href={`/operator/jobs?queue=${encodeURIComponent(queue)}`}>{workOf(queue)}</Link>}
        />
      )}
      <p className="quiet">{queues.length > 0 ? 'All other queues are empty.' : 'All queues are empty.'}</p>
    </>
  );
}
