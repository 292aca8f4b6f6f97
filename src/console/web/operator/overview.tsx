/** How the services are now, and how the last hour and day went. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { Overview as OverviewData } from '../../api.ts';
import type { History } from '../../history/api.ts';
import { useConsole } from '../operator.tsx';
import { sizeOf, When } from '../parts/figures.tsx';
import { useRead } from '../parts/reading.ts';
import { Failure, Pending, Status } from '../parts/states.tsx';
import { Errors } from './overviewerrors.tsx';
import { Queues, Runs } from './overviewgraphs.tsx';
import { Services } from './overviewservices.tsx';
import './operator.css';

export type Range = 'hour' | 'day';

export function Overview() {
  const [range, setRange] = useState<Range>('hour');
  const { data: console } = useConsole();
  const { data, error, refetch, isFetching } = useRead<OverviewData>(['overview'], '/api/overview', {
    refetchInterval: 5000,
  });
  const { data: history, error: historyError } = useRead<History>(['history', range], `/api/history?range=${range}`, {
    refetchInterval: 15_000,
    placeholderData: (previous) => previous,
    enabled: console?.hasDatabase === true,
  });
  if (data === undefined) return <Pending error={error} retry={refetch} what="Reading the state of every service" />;
  return (
    <div className="operator">
      <header className="page">
        <h1>Overview</h1>
        <p className="quiet" aria-busy={isFetching}>
          Updated <When at={data.checkedAt} />
        </p>
      </header>
      <div className="row">
        <Summary data={data} error={error} history={history} />
        {console?.hasDatabase && <RangeChoice range={range} onChoose={setRange} />}
      </div>
      {historyError && <Failure error={historyError} />}
      {console?.hasDatabase === false && (
        <p className="quiet">
          Graphs are unavailable, because another process has opened the embedded database. Start the console in that
          process.
        </p>
      )}
      {history && <Runs history={history} />}
      <section aria-labelledby="services">
        <h2 id="services">Services</h2>
        <Services states={data.services} history={history} />
      </section>
      <div className="split">
        <section aria-labelledby="errors">
          <h2 id="errors">Recent errors</h2>
          <Errors />
        </section>
        <section aria-labelledby="queues">
          <h2 id="queues">Queues</h2>
          <Queues overview={data} history={history} />
        </section>
        <section aria-labelledby="engines">
          <h2 id="engines">Engines</h2>
          <dl className="pairs">
            {data.engines.map(({ concern, engine, isEmbedded }) => (
              <div key={concern}>
                <dt>{concern}</dt>
                <dd>
                  {engine} {isEmbedded && <span className="tag">embedded</span>}
                </dd>
              </div>
            ))}
          </dl>
        </section>
        <section aria-labelledby="processes">
          <h2 id="processes">Processes</h2>
          <dl className="pairs">
            {data.processes.map(({ services, startedAt, memoryBytes }) => (
              <div key={startedAt}>
                <dt>{services.length === 1 ? services[0] : `${services.length} services`}</dt>
                <dd>
                  started <When at={startedAt} />, {sizeOf(memoryBytes)}
                </dd>
              </div>
            ))}
          </dl>
        </section>
      </div>
    </div>
  );
}

const recentMs = 10 * 60_000;

/** Services that returned server errors lately, and how many runs failed. */
function recentTrouble({ services, checkedAt }: OverviewData, history: History | undefined) {
  const since = Date.parse(checkedAt) - recentMs;
  const isRecent = (at: string | null | undefined) => at !== null && at !== undefined && Date.parse(at) >= since;
  const failing = services.filter((one) => one.failing.some(({ lastAt }) => isRecent(lastAt)));
  const stepM = (history?.stepS ?? 0) / 60;
  const failedRuns = (history?.runs.failedPerMinute ?? [])
    .filter((_value, step) => isRecent(history?.startsAt[step]))
    .reduce<number>((sum, value) => sum + (value ?? 0) * stepM, 0);
  return { failing: failing.map(({ service }) => service), failedRuns: Math.round(failedRuns) };
}

function Summary({
  data,
  error,
  history,
}: {
  readonly data: OverviewData;
  readonly error: Error | null;
  readonly history: History | undefined;
}) {
  const { failing, failedRuns } = recentTrouble(data, history);
  const unwell = data.services.filter(({ status }) => status !== 'ready').map(({ service }) => service);
  return (
    <p role="status" className="summary">
      {error ? (
        <Status tone="bad">{error.message} This is the last known state.</Status>
      ) : unwell.length === 0 && (failing.length > 0 || failedRuns > 0) ? (
        <>
          <Status tone="bad">
            All {data.services.length} services are ready
            {failing.length > 0 && `, but ${failing.join(', ')} returned server errors in the last 10 minutes`}
          </Status>{' '}
          {failedRuns > 0 && (
            <Link href="/operator/runs?status=failed">
              {failedRuns === 1 ? '1 run has failed' : `${failedRuns} runs have failed`}
            </Link>
          )}
        </>
      ) : unwell.length === 0 ? (
        <Status tone="good">All {data.services.length} services are ready</Status>
      ) : (
        <Status tone="bad">
          {unwell.length === 1
            ? `${unwell[0]} is not ready`
            : `${unwell.length} of ${data.services.length} services are not ready: ${unwell.join(', ')}`}
        </Status>
      )}
    </p>
  );
}

function RangeChoice({ range, onChoose }: { readonly range: Range; readonly onChoose: (range: Range) => void }) {
  const choices = [
    ['hour', 'Last hour'],
    ['day', 'Last day'],
  ] as const;
  return (
    <fieldset className="segments" aria-label="Range of the graphs">
      {choices.map(([value, label]) => (
        <button key={value} type="button" aria-pressed={value === range} onClick={() => onChoose(value)}>
          {label}
        </button>
      ))}
    </fieldset>
  );
}
