/** How the services are now, and how the last hour went. */
import './operator.css';
import { Link } from 'wouter';
import type { Overview as OverviewData, ServiceState } from '../../api.ts';
import type { ErrorList, History } from '../../history/api.ts';
import { sizeOf, When } from '../parts/figures.tsx';
import { useRead } from '../parts/reading.ts';
import { Empty, Failure, Pending, Status } from '../parts/states.tsx';
import { useBudgets } from './budgets.tsx';
import { Graph, type Line, Numbers } from './graph.tsx';
import { Queues, Runs } from './overviewgraphs.tsx';
import { decimalOf, timeOf } from './units.ts';

export function Overview() {
  const { data, error, refetch, isFetching } = useRead<OverviewData>(['overview'], '/api/overview', {
    refetchInterval: 5000,
  });
  const { data: history, error: historyError } = useRead<History>(['history'], '/api/history', {
    refetchInterval: 15_000,
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
      <Summary data={data} error={error} history={history} />
      {historyError && <Failure error={historyError} />}
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
  const spent = (useBudgets().data?.budgets ?? []).filter(({ percent }) => percent >= 100);
  const unwell = data.services.filter(({ status }) => status !== 'ready').map(({ service }) => service);
  return (
    <p role="status" className="summary">
      {error ? (
        <Status tone="bad">{error.message} This is the last known state.</Status>
      ) : unwell.length === 0 && (failing.length > 0 || failedRuns > 0 || spent.length > 0) ? (
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
      )}{' '}
      {spent.length > 0 && (
        <Link href="/operator/models">
          The budget of the {spent.map(({ period }) => period).join(' and of the ')} is spent
        </Link>
      )}
    </p>
  );
}

/** By the code of the problem. */
const advice: Readonly<Record<string, string>> = {
  engine_unavailable:
    'An engine or a service did not respond. Check above which one is not ready, and search the log for the id.',
  overloaded: 'The process received too many requests. Start another process, or find the caller that sends so many.',
  internal_error: 'This is a bug. The log line with this id contains the cause.',
};
const fallback = 'Search the log for this id. The line contains the cause.';

function Errors() {
  const { data, error, refetch } = useRead<ErrorList>(['errors'], '/api/errors', { refetchInterval: 10_000 });
  if (data === undefined) return <Pending error={error} retry={refetch} />;
  return (
    <>
      {data.unread.length > 0 && (
        <p className="problem">
          {data.unread.join(', ')} cannot be reached, so their errors are not listed. Check the last lines of their
          logs.
        </p>
      )}
      {data.errors.length === 0 && data.unread.length === 0 && (
        <Empty title="No server errors since the services started." />
      )}
      <ul className="lines">
        {data.errors.slice(0, 10).map(({ service, at, requestId, traceUrl, method, route, status, code }) => (
          <li key={`${service} ${requestId} ${at}`}>
            <div className="row">
              <code>
                {service}: {method} {route}
              </code>
              <span className="quiet">
                <When at={at} />
              </span>
            </div>
            <p>
              <span className="problem">
                {status} {code}
              </span>{' '}
              <span className="quiet">{advice[code] ?? fallback}</span>
            </p>
            <p className="quiet">
              Request id <code>{requestId}</code>
              {traceUrl !== null && (
                <>
                  {' · '}
                  <a href={traceUrl} target="_blank" rel="noreferrer">
                    Trace
                  </a>
                </>
              )}
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}

function Services({
  states,
  history,
}: {
  readonly states: readonly ServiceState[];
  readonly history: History | undefined;
}) {
  return (
    <ul className="cards">
      {states.map((state) => (
        <Service key={state.service} state={state} history={history} />
      ))}
    </ul>
  );
}

const words = {
  ready: { tone: 'good', word: 'ready' },
  unready: { tone: 'bad', word: 'not ready' },
  unreachable: { tone: 'bad', word: 'no answer' },
} as const;

function Service({ state, history }: { readonly state: ServiceState; readonly history: History | undefined }) {
  const { service, address, status, engines } = state;
  const { tone, word } = words[status];
  const past = history?.services.find((one) => one.service === service);
  const failing = Object.entries(engines).filter(([, engineState]) => engineState !== 'ok');
  return (
    <li className="card">
      <div className="row">
        <h3>{service}</h3>
        <Status tone={tone}>{word}</Status>
      </div>
      <p className="quiet address">{address.replace(/^https?:\/\//, '')}</p>
      {status === 'unreachable' && (
        <p className="problem">Check that its process is running. The last lines of its log show why it stopped.</p>
      )}
      {failing.map(([engine]) => (
        <p key={engine} className="problem">
          {engine} does not respond. Check its process and its settings.
        </p>
      ))}
      {past && history && <Past past={past} startsAt={history.startsAt} />}
      {history && status !== 'unreachable' && !wasMeasured(past) && <p className="quiet">Not measured yet.</p>}
    </li>
  );
}

const wasMeasured = (past: History['services'][number] | undefined) =>
  past?.perMinute.some((value) => value !== null) ?? false;

function Past({
  past,
  startsAt,
}: {
  readonly past: History['services'][number];
  readonly startsAt: readonly string[];
}) {
  const requests: Line = { name: 'Requests', values: past.perMinute, tone: 'accent' };
  const errors: Line = { name: 'Errors', values: past.errorsPerMinute, tone: 'bad' };
  const median: Line = { name: 'p50', values: past.p50Ms, tone: 'accent' };
  const slow: Line = { name: 'p95', values: past.p95Ms, tone: 'quiet' };
  if (!wasMeasured(past)) return null;
  const hasErrors = past.errorsPerMinute.some((value) => value !== null && value > 0);
  return (
    <>
      <Graph
        title="Per minute"
        lines={hasErrors ? [requests, errors] : [requests]}
        startsAt={startsAt}
        show={decimalOf}
      />
      <Graph title="Response time" lines={[median, slow]} startsAt={startsAt} show={timeOf} />
      <Numbers
        label={`${past.service}: requests and errors per minute, response times`}
        lines={[requests, errors, median, slow]}
        startsAt={startsAt}
        show={(value, name) => (name.startsWith('p') ? timeOf(value) : decimalOf(value))}
      />
    </>
  );
}
