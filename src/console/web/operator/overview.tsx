/** How the services are now, and how the last hour went. */
import './operator.css';
import { Link } from 'wouter';
import type { Overview as OverviewData, ServiceState } from '../../api.ts';
import type { ErrorList, History } from '../../history/api.ts';
import { countOf, countUpTo, sizeOf, When } from '../parts/figures.tsx';
import { Empty, Failure, Pending, Status } from '../parts/states.tsx';
import { Pairs } from '../parts/tables.tsx';
import adviceTexts from './advice.json' with { type: 'json' };
import { Attention, type Desk, failuresOf, useDesk } from './attention.tsx';
import './desk.css';
import { Graph, type Line, Numbers } from './graph.tsx';
import { RequestId } from './names.tsx';
import { Queues, Runs } from './overviewgraphs.tsx';
import { clockOf, compactOf, decimalOf, moneyOf, timeOf } from './units.ts';

export function Overview() {
  const desk = useDesk();
  const { data, error, refetch, isFetching } = desk.overview;
  const history = desk.history.data;
  if (data === undefined || !desk.isRead)
    return <Pending error={error} retry={refetch} what="Reading the state of every service" />;
  return (
    <div className="operator">
      <header className="page">
        <h1>Overview</h1>
        <p className="quiet" aria-busy={isFetching}>
          Updated <When at={data.checkedAt} />
        </p>
      </header>
      <Attention desk={desk} overview={data} />
      <Figures desk={desk} data={data} />
      {desk.history.error && <Failure error={desk.history.error} />}
      {history && <Runs history={history} />}
      <section aria-labelledby="services">
        <h2 id="services">Services</h2>
        <ul className="cards">
          {data.services.map((state) => (
            <Service key={state.service} state={state} history={history} />
          ))}
        </ul>
      </section>
      <div className="split">
        <div>
          <section aria-labelledby="errors">
            <h2 id="errors">Recent errors</h2>
            <Errors of={desk.errors} />
          </section>
          <section aria-labelledby="engines">
            <h2 id="engines">Engines</h2>
            <Pairs
              of={Object.fromEntries(
                data.engines.map(({ concern, engine, isEmbedded }) => [
                  concern,
                  [
                    engine,
                    ' ',
                    isEmbedded && (
                      <span key="tag" className="tag">
                        embedded
                      </span>
                    ),
                  ],
                ]),
              )}
            />
          </section>
          <section aria-labelledby="processes">
            <h2 id="processes">Processes</h2>
            <dl className="pairs">
              {data.processes.map(({ services, startedAt, memoryBytes }) => (
                <div key={startedAt}>
                  <dt>{services.length === 1 ? services[0] : `${services.length} services in one process`}</dt>
                  <dd>
                    started <When at={startedAt} />, {sizeOf(memoryBytes)}
                  </dd>
                </div>
              ))}
            </dl>
          </section>
        </div>
        <section aria-labelledby="queues">
          <h2 id="queues">Queues</h2>
          <Queues of={data} />
        </section>
      </div>
    </div>
  );
}

/** The last hour and today in numbers, each with its page. */
function Figures({ desk, data }: { readonly desk: Desk; readonly data: OverviewData }) {
  const { data: history } = desk.history;
  const counts = desk.incidents.data?.counts;
  const today = desk.budgets.data?.budgets.find(({ period }) => period === 'day');
  const stepM = (history?.stepS ?? 0) / 60;
  const runs = (history?.runs.endedPerMinute ?? []).reduce<number>((sum, value) => sum + (value ?? 0) * stepM, 0);
  const failures = failuresOf(desk);
  const failed = failures.reduce((sum, [count]) => sum + count, 0);
  const jobs = (state: 'waiting' | 'dead') =>
    data.queues === null
      ? '–'
      : countUpTo(
          data.largestCount,
          data.queues.reduce((sum, one) => sum + one[state], 0),
        );
  const figures: readonly (readonly [name: string, value: string, href: string])[] = [
    ['Failed in the last hour', compactOf(failed), failures[0]?.[3] ?? '/operator/runs?status=failed'],
    ['Runs in the last hour', compactOf(Math.round(runs)), '/operator/runs'],
    ...(today === undefined ? [] : [['Spent today', moneyOf(today.spentUsd), '/operator/models'] as const]),
    ['Jobs waiting', jobs('waiting'), '/operator/jobs'],
    ['Jobs dead', jobs('dead'), '/operator/jobs'],
    ...(counts === undefined ? [] : [['Open incidents', countOf(counts.open), '/operator/incidents'] as const]),
  ];
  return (
    <dl className="desk-tiles" aria-label="In numbers">
      {figures.map(([name, value, href], index) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Link href={href} aria-label={`${name}: ${value}`}>
              {value}
            </Link>
            {index === 0 &&
              failures.map(([count, one, many, to]) => (
                <Link key={one} href={to} className="desk-part">
                  {countOf(count)} {count === 1 ? one : many}
                </Link>
              ))}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** By the code of the problem. */
const advice: Readonly<Record<string, string>> = adviceTexts;
const fallback = 'Search the log for this id. The line contains the cause.';

type ServerError = ErrorList['errors'][number];

/** The same failure of the same route is one entry, with its newest error. */
function groupsOf(errors: readonly ServerError[]): readonly (readonly [ServerError, ...ServerError[]])[] {
  const groups = new Map<string, [ServerError, ...ServerError[]]>();
  for (const one of errors) {
    const key = [one.service, one.method, one.route, one.status, one.code].join(' ');
    const known = groups.get(key);
    if (known === undefined) groups.set(key, [one]);
    else known.push(one);
  }
  return [...groups.values()];
}

function Errors({ of: { data, error, refetch } }: { readonly of: Desk['errors'] }) {
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
        {groupsOf(data.errors)
          .slice(0, 10)
          .map(([{ service, at, requestId, traceUrl, method, route, status, code }, ...more]) => (
            <li key={`${service} ${method} ${route} ${status} ${code}`}>
              <div className="row">
                <span>
                  <span className="problem">
                    {status} {code}
                  </span>
                  {more.length > 0 && (
                    <span className="quiet">
                      {' '}
                      {countOf(more.length + 1)} times since {clockOf(more.at(-1)?.at)}
                    </span>
                  )}
                </span>
                <span className="quiet">
                  <When at={at} />
                </span>
              </div>
              <p className="quiet">
                <code className="wrapped">
                  {service}: {method} {route}
                </code>
              </p>
              <p>{advice[code] ?? fallback}</p>
              <p className="quiet">
                <RequestId id={requestId} traceUrl={traceUrl} />
              </p>
            </li>
          ))}
      </ul>
    </>
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

interface PastProps {
  readonly past: History['services'][number];
  readonly startsAt: readonly string[];
}

function Past({ past, startsAt }: PastProps) {
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
