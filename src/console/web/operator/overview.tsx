/** How the services are now, and how the last hour went. */
import type { UseQueryResult } from '@tanstack/react-query';
import { type ComponentProps, type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { GenerationRecordPage } from '#agent/records/api.ts';
import type { ErrorList, History, Overview as OverviewData, ServiceState } from '../../api.ts';
import type { ShownRunPage } from '../../runs/api.ts';
import { countOf, countUpTo, sizeOf, When } from '../parts/figures.tsx';
import { Empty, Failure, Loaded, Loading, Section, Status } from '../parts/states.tsx';
import { Pairs, Table } from '../parts/tables.tsx';
import adviceTexts from './advice.json' with { type: 'json' };
import { Attention, type Desk, dayBefore, mostRuns, since, useDesk, Way } from './attention.tsx';
import { Entry } from './entry.tsx';
import { Graph, type Line, Numbers, nowOf, Sparkline } from './graph.tsx';
import { RequestId, useCosts, workOf } from './names.tsx';
import { QueueTable } from './queuetable.tsx';
import { clockOf, compactOf, decimalOf, timeOf } from './units.ts';

/** Each part is shown when it is read. */
export function Overview() {
  const desk = useDesk();
  const { data, error, refetch, isFetching } = desk.overview;
  const history = desk.history.data;
  return (
    <div className="operator">
      <header className="page">
        <h1>Overview</h1>
        {data && (
          <p className="quiet" aria-busy={isFetching}>
            Updated <When at={data.checkedAt} />
          </p>
        )}
      </header>
      {data === undefined && error ? <Failure error={error} retry={refetch} /> : <Attention desk={desk} />}
      <Figures desk={desk} />
      <Part id="services" title="Services">
        {data ? <Services of={data.services} history={history} /> : !error && <Loading />}
      </Part>
      <Part id="runs" title="Runs">
        <Loaded of={desk.history}>
          {(hour) => <Graphs label="Runs, first token, tokens" of={graphsOfRuns(hour)} startsAt={hour.startsAt} />}
        </Loaded>
      </Part>
      <div className="split">
        <Part id="errors" title="Recent errors">
          <Loaded of={desk.errors}>{(list) => <Errors of={list} />}</Loaded>
        </Part>
        <Part id="queues" title="Queues">
          {data ? <Queues of={data} /> : !error && <Loading />}
        </Part>
      </div>
      <Part id="engines" title="Engines and processes">
        {data ? <Engines of={data} /> : !error && <Loading />}
      </Part>
    </div>
  );
}

/** Has its height before its content is read, so that nothing below it moves. */
const Part = (props: ComponentProps<typeof Section>) => <Section className="desk-part" {...props} />;

const Engines = ({ of: { engines, processes, services: all } }: { readonly of: OverviewData }) => (
  <Pairs
    className="pairs engines"
    of={Object.fromEntries([
      ...engines.map(({ concern, engine, isEmbedded }) => [concern, isEmbedded ? `${engine}, embedded` : engine]),
      ...processes.map(({ services, startedAt, memoryBytes }) => [
        services.length === all.length ? 'All services' : services.join(', '),
        <span key={startedAt}>
          started <When at={startedAt} />, {sizeOf(memoryBytes)}
        </span>,
      ]),
    ])}
  />
);

/** `before`: the same of yesterday. */
type Figure = readonly [name: string, value: ReactNode, href: string, before?: ReactNode];

/** In numbers, each as the page behind its link has it. */
function Figures({ desk }: { readonly desk: Desk }) {
  const { overview, today } = desk;
  const failed = (read: UseQueryResult<ShownRunPage | GenerationRecordPage>) =>
    shownOf(read, (page) => {
      const count = countOf(('runs' in page ? page.runs : page.generations).length);
      return page.next_cursor === null ? count : `${count}+`;
    });
  const jobs = (['waiting', 'failing', 'dead'] as const).map((state) => {
    const count = shownOf(overview, ({ queues, largestCount }) => {
      const sum = queues?.reduce((all, queue) => all + queue[state], 0);
      return sum === undefined ? '–' : countUpTo(largestCount, sum);
    });
    return [`Jobs ${state}`, count, '/operator/jobs'] as const;
  });
  const recent = shownOf(desk.newest, (page) => {
    const count = page.runs.filter(({ createdAt }) => since(createdAt, 3_600_000)).length;
    return countUpTo(mostRuns - 1, count);
  });
  const costOf = useCosts();
  const incidents = shownOf(desk.incidents, ({ counts }) => countOf(counts.open));
  const usageOf = (day: string, figure: 'runs' | 'costUsd', show: (sum: number) => ReactNode = countOf) =>
    shownOf(desk.usage, ({ days }) => show(days.reduce((sum, row) => (row.day === day ? sum + row[figure] : sum), 0)));
  const before = dayBefore(today);
  // Only runs that have ended are in the usage.
  const started = desk.newest.data?.runs.filter(({ createdAt }) => createdAt >= today).length ?? 0;
  const ran = usageOf(today, 'runs', (ended) => countOf(Math.max(ended, started)));
  const ranBefore = usageOf(before, 'runs');
  const failedToday = `status=failed&from=${today}`;
  const figures: readonly Figure[] = [
    ['Failed runs today', failed(desk.runs), `/operator/runs?${failedToday}`, failed(desk.runsBefore)],
    [
      'Failed images and videos today',
      failed(desk.orders),
      `/operator/runs?kind=generations&${failedToday}`,
      failed(desk.ordersBefore),
    ],
    ['Runs in the last hour', recent, '/operator/runs', ranBefore && `${ranBefore}, today ${ran}`],
    ['Spent today', usageOf(today, 'costUsd', costOf), '/operator/models', usageOf(before, 'costUsd', costOf)],
    ...jobs,
    ['Open incidents', incidents, '/operator/incidents'],
  ];
  const shown = figures.filter(([name]) => desk.hasPeople || name.startsWith('Jobs'));
  return (
    <dl className="desk-tiles" aria-label="In numbers">
      {shown.map(([name, value, href, before]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Way
              href={href}
              {...(typeof value !== 'object' && { 'aria-label': `${name}: ${value ?? 'not read yet'}` })}
            >
              {value ?? '…'}
            </Way>
          </dd>
          {before !== undefined && <dd className="desk-before quiet">yesterday {before}</dd>}
        </div>
      ))}
    </dl>
  );
}

/** `undefined`: not read yet. */
const shownOf = <T, R extends ReactNode>(
  { data, error }: Pick<UseQueryResult<T>, 'data' | 'error'>,
  show: (data: T) => R,
) => (data === undefined ? (error ? '–' : undefined) : show(data));

const words = {
  ready: { tone: 'good', word: 'ready' },
  unready: { tone: 'bad', word: 'not ready' },
  unreachable: { tone: 'bad', word: 'no answer' },
} as const;

type Measured = History['services'][number];

const columns = [
  ['Requests / min', 'accent', decimalOf, ({ perMinute }: Measured) => perMinute],
  ['Errors / min', 'bad', decimalOf, ({ errorsPerMinute }: Measured) => errorsPerMinute],
  ['p95', 'accent', timeOf, ({ p95Ms }: Measured) => p95Ms],
] as const;

function Services({ of, history }: { readonly of: OverviewData['services']; readonly history: History | undefined }) {
  const [opened, setOpened] = useState('');
  const pastOf = (service: string) => history?.services.find((one) => one.service === service);
  const past = pastOf(opened);
  return (
    <>
      <div className="queues services">
        <Table
          head={['Service', 'State', ...columns.map(([name]) => name)]}
          rows={of.map((state) => ({
            key: state.service,
            cells: [
              <ServiceName
                key="name"
                of={state}
                isOpen={state.service === opened}
                open={() => setOpened(state.service === opened ? '' : state.service)}
              />,
              <Status key="state" tone={words[state.status].tone}>
                {words[state.status].word}
              </Status>,
              ...columns.map(([name, tone, show, valuesOf]) => {
                const values = valuesOf(pastOf(state.service) ?? unmeasured);
                const latest = nowOf(values);
                return (
                  <span key={name}>
                    <Sparkline values={values} tone={tone} />
                    <span className="spark-now">{latest === null ? '–' : show(latest)}</span>
                  </span>
                );
              }),
            ],
          }))}
        />
      </div>
      {past && history && (
        <section aria-label={opened}>
          <h3>{opened}</h3>
          <Graphs label={`${opened}, the last hour`} of={graphsOfService(past)} startsAt={history.startsAt} />
        </section>
      )}
    </>
  );
}

const unmeasured: Measured = { service: '', perMinute: [], errorsPerMinute: [], p50Ms: [], p95Ms: [] };

type ServiceNameProps = { readonly of: ServiceState; readonly isOpen: boolean; readonly open: () => void };

function ServiceName({ of: { service, address, status, engines }, isOpen, open }: ServiceNameProps) {
  const failing = Object.keys(engines).filter((engine) => engines[engine] !== 'ok');
  return (
    <>
      <button type="button" className="entry" aria-expanded={isOpen} onClick={open}>
        <span>{service}</span>
        <span className="quiet address">{address.replace(/^https?:\/\//, '')}</span>
      </button>
      {status === 'unreachable' && (
        <p className="problem">Check that its process is running. The last lines of its log show why it stopped.</p>
      )}
      {failing.length > 0 && (
        <p className="problem">{failing.join(', ')}: no response. Check its process and its settings.</p>
      )}
    </>
  );
}

type GraphRow = readonly [title: string, show: (value: number) => string, ...lines: Line[]];
type GraphsProps = { readonly label: string; readonly of: readonly GraphRow[]; readonly startsAt: readonly string[] };

/** Graphs side by side, and their numbers as a table. */
function Graphs({ label, of, startsAt }: GraphsProps) {
  const lines = of.flatMap(([title, , ...some]) =>
    some.map(([name, ...rest]) => [`${title}, ${name}`, ...rest] as const),
  );
  const showOf = (name: string) => of.find(([title]) => name.startsWith(title))?.[1] ?? String;
  return (
    <div className="card three">
      {of.map(([title, show, ...some]) => (
        <Graph key={title} title={title} lines={some} startsAt={startsAt} show={show} />
      ))}
      <Numbers label={label} lines={lines} startsAt={startsAt} show={(value, name) => showOf(name)(value)} />
    </div>
  );
}

const graphsOfService = ({ perMinute, errorsPerMinute, p50Ms, p95Ms }: Measured): readonly GraphRow[] => [
  ['Per minute', decimalOf, ['requests', 'accent', perMinute], ['errors', 'bad', errorsPerMinute]],
  ['Response time', timeOf, ['p50', 'accent', p50Ms], ['p95', 'quiet', p95Ms]],
];

const tokenRateOf = (tokens: number) => (tokens === 0 ? '–' : compactOf(tokens));

const graphsOfRuns = ({ runs }: History): readonly GraphRow[] => [
  ['Ended per minute', decimalOf, ['all', 'accent', runs.endedPerMinute], ['failed', 'bad', runs.failedPerMinute]],
  ['First token', timeOf, ['p50', 'accent', runs.firstTokenP50Ms], ['p95', 'quiet', runs.firstTokenP95Ms]],
  [
    'Tokens per minute',
    tokenRateOf,
    ['in', 'quiet', runs.inputTokensPerMinute],
    ['out', 'accent', runs.outputTokensPerMinute],
  ],
];

const counted = ['waiting', 'failing', 'running', 'dead'] as const;

function Queues({ of: { queues, largestCount } }: { readonly of: OverviewData }) {
  if (queues === null) return <Empty title="Queue depths are unavailable." />;
  const busy = queues.filter((queue) => counted.some((state) => queue[state] > 0));
  return (
    <>
      {busy.length > 0 && (
        <QueueTable
          of={busy}
          states={counted}
          largestCount={largestCount}
          head={({ queue }) => <Link href={`/operator/jobs?queue=${encodeURIComponent(queue)}`}>{workOf(queue)}</Link>}
        />
      )}
      <p className="quiet">{busy.length > 0 ? 'No other queue has a job that is due.' : 'No job is due.'}</p>
    </>
  );
}

/** By the code of the problem. */
const advice: Readonly<Record<string, string>> = adviceTexts;

/** The same failure of the same route is one entry, with its newest error. */
const groupsOf = (errors: ErrorList['errors']) =>
  Map.groupBy(errors, ({ service, method, route, status, code }) => [service, method, route, status, code].join(' '));

function Errors({ of: { errors, unread } }: { readonly of: ErrorList }) {
  return (
    <>
      {unread.length > 0 && (
        <p className="problem">
          {unread.join(', ')} cannot be reached, so their errors are not listed. Check the last lines of their logs.
        </p>
      )}
      {errors.length === 0 && unread.length === 0 && <Empty title="No server errors since the services started." />}
      <ul className="lines">
        {[...groupsOf(errors)].slice(0, 10).map(
          ([key, [one, ...more]]) =>
            one && (
              <li key={key}>
                <Entry
                  title={<span className="problem">{`${one.status} ${one.code}`}</span>}
                  status={
                    more.length > 0 && (
                      <span className="quiet">
                        {countOf(more.length + 1)} times since {clockOf(more.at(-1)?.at)}
                      </span>
                    )
                  }
                  at={one.at}
                  facts={[
                    <code key="route" className="wrapped">
                      {one.service}: {one.method} {one.route}
                    </code>,
                    <RequestId key="request" id={one.requestId} traceUrl={one.traceUrl} />,
                  ]}
                >
                  <p>{advice[one.code] ?? 'Search the log for this id. The line contains the cause.'}</p>
                </Entry>
              </li>
            ),
        )}
      </ul>
    </>
  );
}
